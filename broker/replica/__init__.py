"""Partitions and their logs on one node: append, fetch, flush and delayed fetches."""
