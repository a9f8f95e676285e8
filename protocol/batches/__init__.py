"""Record batches (magic 2): header, records, compression and control records."""
