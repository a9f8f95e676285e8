"""Scenarios with Spark jobs, which run in their own processes; nothing here imports Spark."""
