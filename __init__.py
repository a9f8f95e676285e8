"""fauxka: a mock broker for Apache Kafka clients, exact on the wire, that fails on demand."""

__version__ = "0.1.0"
