"""Generator of protocol/messages/ from kio's definitions: merges the versions of a message and writes its code."""
