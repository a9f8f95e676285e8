"""Handlers of the APIs for the cluster, its configs and its coordinators."""
