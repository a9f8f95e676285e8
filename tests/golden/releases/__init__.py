"""The golden programs against brokers of other releases of Kafka, whose versions of the APIs are lower."""
