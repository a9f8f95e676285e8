"""From the bytes of record batches to Arrow columns."""
