"""Audit of events: further copies of an event in a topic, and the cause of each.

A broker cannot detect a copy whose sequence is in order, so the audit compares event ids. The first copy is the one
with the lowest offset; among partitions, the one with the lowest timestamp. The cause of a further copy follows from a
comparison with the first:

    other_partition                  another partition: a client never resends a batch to another partition
    idempotence_off                  one of the two has no producer id: the broker could not detect the copy
    not_deduplicated                 same producer, epoch and sequence: the broker should have detected the copy
    re_sequenced_after_epoch_bump    same producer, newer epoch: the client timed out and resent with new sequences
    sent_again                       same producer, another sequence: the application or a task retry sent it again
    producer_restarted               another producer: a restarted client or another client sent it

Only a producer without transactions gives its batches new sequences after an epoch bump. A transactional producer has a
new epoch in each transaction, so its copies are `sent_again`. A batch with new sequences keeps its records and their
timestamps (ProducerBatch.resetProducerState). So a copy with a newer epoch and another timestamp was passed to the
producer a second time, as a repeated Spark task does. If the log sets the timestamps, the two cases look alike, and
the cause is `re_sequenced_after_epoch_bump`.
Source: TransactionManager.bumpIdempotentEpochAndResetIdIfNeeded, Kafka 4.3.0.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from ...protocol.batches.record_batch import TimestampType
from .event_buckets import bucket_of
from .finding_rule import Rule, apply_rules
from .findings import all_findings, findings_of, in_words
from .transaction_spans import without_aborted

# Kinds of findings. The second stands for all copies of a topic (audit_summary.with_hints).
DUPLICATE = "duplicate"
REPEATED_ID = "repeated_event_id"

_LOG_SETS_TIME = TimestampType.LOG_APPEND_TIME.value

# The columns that are compared or reported.
_COMPARED = (
    "timestamp",
    "partition",
    "offset",
    "producer_id",
    "producer_epoch",
    "sequence",
    "base_sequence",
    "is_transactional",
    "timestamp_type",
)
# The columns of an event besides its event id.
EVENT_COLUMNS = ("topic", "batch_base_offset", *_COMPARED)


# The records of a partition with and without an event id. first_offset, first_timestamp: of those without one, in
# microseconds since 1970, because a datetime of Python holds no year behind 9999.
# undecodable: those with a content that cannot be decoded. problem: the reason for one of them.
COUNTS_SCHEMA = (
    "topic string, partition int, with_id bigint, without_id bigint, empty_ids bigint, undecodable bigint,"
    " problem string, first_offset bigint, first_timestamp bigint"
)


def audit_events(
    records: DataFrame, event_id: Column, batches: DataFrame | None = None, counts: DataFrame | None = None
) -> DataFrame:
    """Return a finding for each further copy of an event, and one for each partition with records without an id.

    Reads records several times: persisted, they are decoded once.
    records: the records view. event_id: a string column over it; copies are compared within a topic. batches: the
    batches view of the same log, to leave out records of aborted transactions; None keeps them. counts: from
    count_events, if that has run.
    """
    events = events_of(records, event_id, batches)
    repeated = _repeated(events.where(f.col("event_id").isNotNull()))
    return all_findings(_copies(repeated), _without_id(count_events(events) if counts is None else counts))


def audit_screened(records: DataFrame | None, event_id: Column, counts: DataFrame) -> DataFrame:
    """Return the same findings of a log without aborted transactions whose events have been screened.

    records: all events whose id is in a topic more than once, and perhaps some others; None for no events. counts: of
    COUNTS_SCHEMA, of all events.
    """
    missing = _without_id(counts)
    if records is None:
        return missing
    # A hash has the bytes of a name, which differ from its text if they are not UTF-8.
    repeated = events_of(records, event_id).where(f.col("event_id").isNotNull())
    return all_findings(_copies(repeated), missing)


def events_of(
    records: DataFrame,
    event_id: Column,
    batches: DataFrame | None = None,
    is_empty: Column | None = None,
    problem: Column | None = None,
) -> DataFrame:
    """Return the records with their event_id, without transaction markers and damaged batches.

    batches: leaves out records of aborted transactions. is_empty: whether a record has an event id of no characters.
    problem: why its event id cannot be decoded.
    """
    is_empty = f.lit(False) if is_empty is None else is_empty
    problem = f.lit(None).cast("string") if problem is None else problem
    of_id = (event_id.alias("event_id"), is_empty.alias("is_empty"), problem.alias("problem"))
    return without_aborted(records.where(is_event()).select(*EVENT_COLUMNS, *of_id), batches)


def is_event() -> Column:
    """Return whether a row of the records view is a record that can be read, and no marker."""
    return ~f.col("is_control") & f.col("valid_crc") & f.col("damage").isNull()


def count_events(events: DataFrame) -> DataFrame:
    """Return the columns of COUNTS_SCHEMA, one row for each partition. events: from events_of."""
    has_none = f.col("event_id").isNull()
    return events.groupBy("topic", "partition").agg(
        f.count("event_id").alias("with_id"),
        f.count_if(has_none).alias("without_id"),
        f.count_if("is_empty").alias("empty_ids"),
        f.count("problem").alias("undecodable"),
        f.min("problem").alias("problem"),
        f.min(f.when(has_none, f.col("offset"))).alias("first_offset"),
        f.unix_micros(f.min(f.when(has_none, f.col("timestamp")))).alias("first_timestamp"),
    )


def _repeated(events: DataFrame) -> DataFrame:
    """Return all events whose event id is in the topic more than once, and some others.

    Nearly every id is there once. Hashes prove that, and Spark counts numbers several times faster than it sorts rows.
    """
    id_hash = f.xxhash64("topic", "event_id")
    # An explicit shuffle, because a partial aggregation before it would combine almost no rows.
    hashes = events.select(id_hash.alias("id_hash")).repartition("id_hash").groupBy("id_hash").count()
    buckets = hashes.where(f.col("count") > 1).select(bucket_of(f.col("id_hash")).alias("bucket")).distinct()
    return events.withColumn("bucket", bucket_of(id_hash)).join(f.broadcast(buckets), "bucket").drop("bucket")


def _copies(events: DataFrame) -> DataFrame:
    """Return a finding for each further copy among events that have an id."""
    of_event = Window.partitionBy("topic", "event_id")
    in_order = of_event.orderBy("partition", "offset")
    is_first_of_partition = f.coalesce(f.lag("partition").over(in_order) != f.col("partition"), f.lit(True))
    copy = f.struct(*_COMPARED)
    # Both windows have the same partitioning, so Spark sorts once.
    found = (
        events.withColumn("first", f.when(is_first_of_partition, copy))
        .withColumn("first", f.min("first").over(of_event))
        .where((f.col("partition") != f.col("first.partition")) | (f.col("offset") != f.col("first.offset")))
    )
    of_record = ("topic", "partition", "offset", "producer_id", "producer_epoch", "base_sequence")
    other_partition = f.when(f.col("first.partition") != f.col("partition"), f.col("first.partition"))
    columns: dict[str, str | Column] = {name: name for name in (*of_record, "event_id", "timestamp")}
    columns["other_partition"] = other_partition
    rule = Rule("event", DUPLICATE, f.lit(True), f.lit(1), _detail(), f.col("first.offset"), copy_cause())
    return apply_rules(found, [rule], columns)


def copy_cause() -> Column:
    """Return the cause of a further copy over its columns of the records view and those of `first`, the first copy."""
    first = f.col("first")
    is_same_producer = f.col("producer_id") == first["producer_id"]
    is_same_record = (f.col("timestamp") == first["timestamp"]) | (f.col("timestamp_type") == _LOG_SETS_TIME)
    is_newer = f.col("producer_epoch") > first["producer_epoch"]
    is_bumped = ~f.col("is_transactional") & is_newer & is_same_record
    is_same_sequence = (f.col("producer_epoch") == first["producer_epoch"]) & (f.col("sequence") == first["sequence"])
    return (
        f.when(f.col("partition") != first["partition"], "other_partition")
        .when((f.col("producer_id") < 0) | (first["producer_id"] < 0), "idempotence_off")
        .when(~is_same_producer, "producer_restarted")
        .when(is_same_sequence, "not_deduplicated")
        .when(is_bumped, "re_sequenced_after_epoch_bump")
        .otherwise("sent_again")
    )


def _detail() -> Column:
    first = f.col("first")
    return in_words(
        *("producer ", f.col("producer_id"), " epoch ", f.col("producer_epoch"), " sequence ", f.col("sequence")),
        *("; first in partition ", first["partition"], " at offset ", first["offset"], " from producer "),
        *(first["producer_id"], " epoch ", first["producer_epoch"], " sequence ", first["sequence"]),
    )


def _without_id(counts: DataFrame) -> DataFrame:
    empty = f.when(f.col("empty_ids") > 0, in_words(" (", f.col("empty_ids"), " have an empty one)")).otherwise("")
    detail = in_words(
        *(f.col("without_id"), " records have no event id", empty, undecodable_words()),
        *(", the first of them at offset ", f.col("first_offset")),
    )
    columns: dict[str, str | Column] = {
        **{name: name for name in ("topic", "partition")},
        **{"offset": "first_offset", "count": "without_id", "detail": detail},
        "timestamp": f.timestamp_micros("first_timestamp"),
    }
    return findings_of(counts.where(f.col("without_id") > 0), "event", "no_event_id", columns)


def undecodable_words() -> Column:
    """Return how many records cannot be decoded and why one of them, over the columns undecodable and problem."""
    words = in_words(" (", f.col("undecodable"), " cannot be decoded, such as: ", f.col("problem"), ")")
    return f.when(f.col("undecodable") > 0, words).otherwise("")
