"""Partition logs in Kafka's own formats; no socket, no event loop, no clock: time is an argument."""
