"""Spark jobs over what a broker holds: topics and segment files as rows, with producer ids, epochs and sequences."""
