"""Bytes to messages and back: the wire types, the generated messages and the record batches."""
