"""Brokers for scenarios: in this process, or in a process that can be killed."""
