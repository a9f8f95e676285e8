"""Deduplication of a topic by event id."""
