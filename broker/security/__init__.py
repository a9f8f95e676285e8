"""Who a client is: TLS, SASL and the users of the broker (Kafka: org.apache.kafka.common.security)."""
