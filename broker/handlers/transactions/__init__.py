"""Handlers of the APIs for producer ids and transactions."""
