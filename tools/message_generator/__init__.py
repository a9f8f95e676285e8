"""Writes protocol/messages/ from kio's entities: read the definitions, merge their versions, lay out the code."""
