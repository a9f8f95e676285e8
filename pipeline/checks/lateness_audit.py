"""Lateness of records: the time of the log minus the event time in the record.

The time of the log is the record's timestamp: when the broker appended it (LogAppendTime), or when the producer created
it (CreateTime). An event time is in milliseconds since 1970, or in ISO 8601. A record that is earlier than its event is
not late.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from .finding_rule import Rule, apply_rules
from .findings import all_findings, in_words
from .version_audit import without_field

LATE = "late"
NO_EVENT_TIME = "no_event_time"

_MILLISECONDS = "^-?[0-9]{1,18}$"
_PERCENTILE = 0.99
# As precise as the default of percentile_approx.
_ACCURACY = 10_000


def with_lateness(records: DataFrame) -> DataFrame:
    """Add late_by_ms; null without an event time. records: from with_field."""
    field = f.col("field")
    milliseconds = f.when(field.rlike(_MILLISECONDS), field.cast("bigint"))
    event_ms = f.coalesce(milliseconds, f.unix_millis(f.try_to_timestamp(field)))
    return records.withColumn("late_by_ms", f.unix_millis("timestamp") - event_ms)


def audit_lateness(records: DataFrame, late_after_ms: int | None) -> DataFrame:
    """Return a finding for each record that is later than late_after_ms; None: for no record.

    records: from with_lateness. A field that is not a time counts as none.
    """
    is_timed = f.col("late_by_ms").isNotNull()
    found = without_field(
        records.withColumn("field", f.when(is_timed, f.col("field"))), NO_EVENT_TIME, "have no event time"
    )
    if late_after_ms is None:
        return found
    detail = in_words(f.col("late_by_ms"), " ms later than its event time ", f.col("field"))
    rule = Rule("event", LATE, is_timed & (f.col("late_by_ms") > late_after_ms), f.lit(1), detail)
    of_record = ("topic", "partition", "offset", "producer_id", "producer_epoch", "base_sequence", "timestamp")
    columns: dict[str, str | Column] = {name: name for name in of_record}
    return all_findings(found, apply_rules(records, [rule], columns))


def lateness_of_topics(records: DataFrame) -> DataFrame:
    """Return topic, records, median_ms, p99_ms and max_ms for each topic. records: from with_lateness."""
    late = f.greatest(f.col("late_by_ms"), f.lit(0))
    return (
        records.where(f.col("late_by_ms").isNotNull())
        .groupBy("topic")
        .agg(
            f.count("*").alias("records"),
            _percentile(late, 0.5).alias("median_ms"),
            _percentile(late, _PERCENTILE).alias("p99_ms"),
            f.max(late).alias("max_ms"),
        )
    )


def _percentile(values: Column, share: float) -> Column:
    return f.percentile_approx(values, share, _ACCURACY)
