"""Scenarios of Spark jobs, which are run as processes of their own; nothing of Spark is imported here."""
