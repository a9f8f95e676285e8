"""Decoding of record batches to Arrow columns."""
