"""Handlers of the APIs for the node, its configs and its coordinators."""
