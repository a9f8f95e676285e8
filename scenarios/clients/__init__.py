"""Producers that scenarios run: real clients and a raw one."""
