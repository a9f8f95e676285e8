"""Fault rules for requests: matching, counting and actions."""
