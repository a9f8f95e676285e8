"""Brokers that scenarios run against: in this process, or in a process that is killed."""
