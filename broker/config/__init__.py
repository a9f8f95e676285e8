"""Broker, topic and group configs: keys, types, sources and changes at run time."""
