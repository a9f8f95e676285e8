"""Tokens and messages of capture_oauth, by the name of their case."""
