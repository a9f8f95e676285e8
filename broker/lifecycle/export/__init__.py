"""Exports the topics of a broker to a data folder for a real Kafka."""
