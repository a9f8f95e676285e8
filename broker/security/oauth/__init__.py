"""Bearer tokens of OAUTHBEARER: their validators, key sets and our own issuer (Kafka: security.oauthbearer)."""
