"""Cluster metadata: topics, their configs, features and replica assignments."""
