"""Handlers of the APIs for consumer groups and their offsets."""
