"""Handlers of the APIs for authentication."""
