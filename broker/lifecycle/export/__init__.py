"""Hands what a broker holds to a real Kafka: a folder on which it starts and serves the same topics."""
