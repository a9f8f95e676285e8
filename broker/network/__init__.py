"""Sockets: listeners, connections and the response queue of each connection."""
