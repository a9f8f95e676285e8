"""Spark itself: sessions on one machine or a cluster, jars, the archive for workers, progress, and the log.

The user's settings override the ones here. Spark is imported when a session starts, because that takes a second.
"""
