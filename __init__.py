"""fauxka: a mock broker for Apache Kafka clients, exact on the wire, that fails on demand."""

__version__ = "0.1.0"


class FauxkaError(Exception):
    """The base of the errors for wrong calls, rules, values and configs. The message is for the user."""


class ConfigError(FauxkaError, ValueError):
    """A config that Kafka would refuse; the message is Kafka's."""
