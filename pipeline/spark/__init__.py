"""Spark sessions: settings, jars, workers and progress."""
