"""A finding for each log that ends in front of an offset that something else has reached (log_ends.py)."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column, DataFrame, SparkSession

from ...storage.log_files import PartitionName
from .audited_range import AuditedRange
from .findings import findings_of
from .log_ends import TRUNCATED_LOG, TruncatedLog

_SCHEMA = "topic string, partition int, offset bigint, missing bigint, cause string, detail string"
_COLUMNS = ("topic", "partition", "offset", "cause", "detail")


def audit_truncation(spark: SparkSession, truncated: Iterable[TruncatedLog], audited: AuditedRange) -> DataFrame | None:
    """Return a finding for each truncated log whose end is in the audited range; None without one."""
    seen = [one for one in truncated if PartitionName(one.topic, one.partition) not in audited.cut_ends]
    if not seen:
        return None
    columns: dict[str, str | Column] = {name: name for name in _COLUMNS}
    columns["count"] = "missing"
    return findings_of(spark.createDataFrame(seen, _SCHEMA), "log", TRUNCATED_LOG, columns)
