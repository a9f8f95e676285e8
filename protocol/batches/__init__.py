"""Record batches of magic 2: header, records, compression and control records."""
