"""SASL: the mechanisms, and the authentication of a connection (Kafka: SaslServerAuthenticator)."""
