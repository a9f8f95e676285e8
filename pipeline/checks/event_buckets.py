"""Buckets of hashes of event ids. Events are selected by bucket, which limits the list that every executor has."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as f

BUCKETS = 1 << 18


def bucket_of(id_hash: Column) -> Column:
    """Return the bucket of a 64-bit hash."""
    return f.pmod(id_hash, f.lit(BUCKETS))
