"""Fault rules for files, and the file systems that apply them."""
