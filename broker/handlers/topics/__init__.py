"""Handlers of the APIs for topics and partitions."""
