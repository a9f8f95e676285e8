"""Typical Spark jobs with the kafka format, which scenarios run in processes of their own and break."""
