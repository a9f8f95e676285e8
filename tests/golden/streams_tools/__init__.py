"""Kafka's command-line tools for streams groups: the situations, the commands, and what they print."""
