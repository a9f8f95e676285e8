"""Audit of consumer groups: their committed offsets beside the log, and the history of their commits.

A committed offset is that of the next record. Not faults, because consumers can do so:
- A commit behind the last stable offset, or inside of a batch of an aborted transaction, is of a consumer with
  read_uncommitted: one with read_committed stops in front of the first open transaction, and skips a batch as a whole.
- A commit to an offset that the log lacks. The consumer goes on with the next record; the loss is a finding of the log.

A commit that goes back has records delivered again: a consumer committed late, or the group was reset. A group that
commits the same offset again and again, while the record there is older than STALL_MS, consumes nothing.
Source: OffsetFetcher, KafkaConsumer.position and CompletedFetch, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from .finding_rule import Rule, apply_rules
from .findings import all_findings, in_words
from .group_commits import last_runs, with_previous
from .log_order import in_log_order, with_missing_offsets
from .transaction_spans import aborted_batches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Kafka's default of max.poll.interval.ms: for as long a consumer may be at work on what it has got.
STALL_MS = 5 * 60 * 1000

_PARTITION = ("topic", "partition")
_ENDS_SCHEMA = "topic string, partition int, log_start bigint, log_end bigint, first_open bigint"


class PartitionEnds(NamedTuple):
    """The log start offset of a partition, its end, and the first offset of its open transactions.

    log_end: None if it is not known. first_open: None without an open transaction.
    """

    topic: str
    partition: int
    log_start: int
    log_end: int | None
    first_open: int | None


def ends_frame(spark: SparkSession, ends: list[PartitionEnds]) -> DataFrame:
    """Return the ends as a frame, one small row for each partition."""
    return spark.createDataFrame(ends, _ENDS_SCHEMA)


def audit_group_offsets(commits: DataFrame, ends: DataFrame, batches: DataFrame) -> DataFrame:
    """Return the findings of the last committed offsets. commits: of COMMITS_SCHEMA. ends: from ends_frame.

    ends must be read after the commits, because a log grows. batches: the batches view.
    """
    rows = commits.join(f.broadcast(ends), [*_PARTITION])
    rows = _with_aborted(_with_hole(rows, batches), batches)
    offset, start, end = f.col("offset"), f.col("log_start"), f.col("log_end")
    beyond = in_words("the group has committed offset ", offset, ", and the log ends at offset ", end)
    unread = in_words(
        *("the group has committed offset ", offset, ", and the log begins at offset ", start),
        *(": ", start - offset, " records were deleted unread"),
    )
    hole = in_words(
        "the group has committed offset ", offset, ", which the log lacks, up to offset ", f.col("hole_end") - 1
    )
    is_open = f.coalesce(offset > f.col("first_open"), f.lit(False)) & (offset <= end)
    unstable = in_words(
        *("the group has committed offset ", offset, ", behind the open transaction that begins at offset "),
        *(f.col("first_open"), ": it reads with read_uncommitted"),
    )
    aborted = in_words(
        *("the group has committed offset ", offset, ", inside of the batch at offset ", f.col("aborted_from")),
        " of an aborted transaction: it reads with read_uncommitted",
    )
    is_aborted = f.col("aborted_from").isNotNull()
    one = f.lit(1)
    rules = [
        Rule("group", "offset_beyond_end", offset > end, offset - end, beyond, end),
        Rule("group", "unread_records_deleted", offset < start, start - offset, unread, start),
        Rule(
            "group", "offset_in_hole", f.col("hole_end").isNotNull() & (offset >= start), one, hole, f.col("hole_end")
        ),
        Rule("group", "uncommitted_read", is_open, one, unstable, f.col("first_open"), f.lit("open_transaction")),
        Rule(
            *("group", "uncommitted_read", is_aborted & ~is_open, one, aborted),
            *(f.col("aborted_from"), f.lit("aborted_transaction")),
        ),
    ]
    return apply_rules(rows, rules, _columns())


def audit_group_history(commits: DataFrame, batches: DataFrame) -> DataFrame:
    """Return the findings of the history of commits. commits: from read_commits. batches: of the consumed log."""
    previous, offset = f.col("previous_offset"), f.col("offset")
    back = in_words("the group has committed offset ", offset, " after offset ", previous)
    is_back = f.coalesce(offset < previous, f.lit(False))
    went_back = Rule("group", "commit_regression", is_back, previous - offset, back, previous)
    stalled = Rule("group", "stalled_commits", f.lit(True), f.col("commits"), _stall_words())
    return all_findings(
        apply_rules(with_previous(commits), [went_back], _columns()),
        apply_rules(_stalled(commits, batches), [stalled], _columns()),
    )


def _stalled(commits: DataFrame, batches: DataFrame) -> DataFrame:
    """Return the last runs of equal commits while the record at their offset was there for longer than STALL_MS."""
    runs = f.broadcast(last_runs(commits))
    waiting = (
        in_log_order(batches)
        .where(f.col("is_trusted"))
        .select(*_PARTITION, "base_offset", "last_offset", f.col("max_timestamp").alias("record_time"))
    )
    rows = waiting.join(runs, [*_PARTITION]).where(f.col("offset").between(f.col("base_offset"), f.col("last_offset")))
    since = f.greatest("first_committed_at", "record_time")
    with_wait = rows.withColumn("waited_ms", f.unix_millis("committed_at") - f.unix_millis(since))
    return with_wait.where(f.col("waited_ms") > STALL_MS)


def _stall_words() -> Column:
    return in_words(
        *("the group has committed offset ", f.col("offset"), " ", f.col("commits"), " times, the last time "),
        *(f.col("waited_ms"), " ms after the record there could be read"),
    )


def _with_hole(rows: DataFrame, batches: DataFrame) -> DataFrame:
    """Add hole_end: the first offset behind the missing offsets that the committed one is of; null elsewhere."""
    in_order = with_missing_offsets(in_log_order(batches)).where(f.col("lost_hole") > 0)
    holes = in_order.select(
        *(f.col(name).alias(f"hole_{name}") for name in _PARTITION),
        f.col("offset_before").alias("hole_before"),
        f.col("base_offset").alias("hole_end"),
    )
    is_of = (f.col("topic") == f.col("hole_topic")) & (f.col("partition") == f.col("hole_partition"))
    is_inside = (f.col("offset") > f.col("hole_before")) & (f.col("offset") < f.col("hole_end"))
    return rows.join(holes, is_of & is_inside, "left")


def _with_aborted(rows: DataFrame, batches: DataFrame) -> DataFrame:
    """Add aborted_from: base offset of the aborted batch inside of which the committed offset is; null elsewhere."""
    aborted = aborted_batches(batches).select(
        *(f.col(name).alias(f"aborted_{name}") for name in _PARTITION),
        f.col("batch_base_offset").alias("aborted_from"),
        f.col("last_offset").alias("aborted_to"),
    )
    is_of = (f.col("topic") == f.col("aborted_topic")) & (f.col("partition") == f.col("aborted_partition"))
    is_inside = (f.col("offset") > f.col("aborted_from")) & (f.col("offset") <= f.col("aborted_to"))
    return rows.join(aborted, is_of & is_inside, "left")


def _columns() -> Mapping[str, str | Column]:
    return {**{name: name for name in (*_PARTITION, "offset", "group_id")}, "timestamp": "committed_at"}
