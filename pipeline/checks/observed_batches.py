"""Aggregates over the batches of a log, which decide what an audit has to search for."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from .old_formats import is_of_old_format


def newest_timestamp(batches: DataFrame) -> int | None:
    """Return the newest timestamp of the batches view in milliseconds. Reads the whole frame."""
    found = batches.agg(newest_ms().alias("newest")).first()
    return None if found is None else found["newest"]


# The columns of the batches view that the aggregates below read.
OBSERVED_COLUMNS = ("max_timestamp", "valid_crc", "control_type", "is_transactional", "magic")


def newest_ms() -> Column:
    """Return an aggregate: the newest timestamp in milliseconds of the batches with a right CRC."""
    return f.max(f.when(f.col("valid_crc"), f.unix_millis("max_timestamp")))


def has_aborts() -> Column:
    """Return an aggregate: whether the batches contain an abort marker."""
    return f.coalesce(f.max(f.col("control_type") == "abort"), f.lit(False))


def has_transactions() -> Column:
    """Return an aggregate: whether the batches contain one of a transaction."""
    return f.coalesce(f.max(f.col("valid_crc") & f.col("is_transactional")), f.lit(False))


def has_old_format() -> Column:
    """Return an aggregate: whether the batches contain a message of magic 0 or 1."""
    return f.coalesce(f.max(f.col("valid_crc") & is_of_old_format()), f.lit(False))
