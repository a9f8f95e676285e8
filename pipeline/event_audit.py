"""Events that are in a topic more than once, and how each further copy came to be there.

No broker can see these where the producer's sequences are in order: only the id that the event bears tells. The first
copy is that of the lowest offset; of copies in several partitions that of the lowest timestamp. Each further one gets
its cause from what it has in common with the first:

    other_partition                  in another partition: a client never moves what it sends again
    idempotence_off                  one of the two has no producer id, so that the broker could not know it
    not_deduplicated                 same producer, epoch and sequence: the broker should have known it
    re_sequenced_after_epoch_bump    same producer, newer epoch: the client waited too long and gave it new numbers
    sent_again                       same producer, another sequence: the application or a task retry sent it
    producer_restarted               another producer: a restarted client, or another one, sent it

Source: TransactionManager.bumpIdempotentEpochAndResetIdIfNeeded, Kafka 4.3.0: only a producer without transactions
gives batches new numbers; a transactional one has a new epoch with each transaction, so that there it is sent again.
A batch with new numbers keeps its records as they are (ProducerBatch.resetProducerState), their timestamps too. A
copy of a newer epoch with a timestamp of its own was handed to the producer once more, which had given the first one
up: so does a Spark task that is run again. Where the log sets the timestamps that cannot be told, and counts as the
client's.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from ..protocol.batches.record_batch import TimestampType
from .audit.finding_rule import Rule, findings_by
from .audit.transaction_spans import aborted_batches
from .findings import all_findings, findings_of, in_words

_LOG_SETS_TIME = TimestampType.LOG_APPEND_TIME.value

# What is told of a copy and of the first one; all else of a record stays where it is read.
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


def audit_events(records: DataFrame, event_id: Column, batches: DataFrame | None = None) -> DataFrame:
    """Return a finding for each further copy of an event, and one for each partition with records that have no id.

    records: a frame of the records view. event_id: of its columns, a string; topics are looked at one by one.
    batches: of the same log; records of aborted transactions, which no careful consumer sees, are then left out.
    """
    events = events_of(records, event_id)
    if batches is not None:
        events = events.join(aborted_batches(batches), ["topic", "partition", "batch_base_offset"], "left_anti")
    return all_findings(_copies(events), _without_id(events))


def events_of(records: DataFrame, event_id: Column) -> DataFrame:
    """Return the records that can be events, with their event_id: no markers, and no damaged batches."""
    is_event = ~f.col("is_control") & f.col("valid_crc") & f.col("damage").isNull()
    return records.where(is_event).select("topic", "batch_base_offset", *_COMPARED, event_id.alias("event_id"))


def _copies(events: DataFrame) -> DataFrame:
    of_event = Window.partitionBy("topic", "event_id")
    in_order = of_event.orderBy("partition", "offset")
    is_first_of_partition = f.coalesce(f.lag("partition").over(in_order) != f.col("partition"), f.lit(True))
    copy = f.struct(*_COMPARED)
    # One sort serves both windows: the second is the whole of what the first goes through.
    found = (
        events.where(f.col("event_id").isNotNull())
        .withColumn("first", f.when(is_first_of_partition, copy))
        .withColumn("first", f.min("first").over(of_event))
        .where((f.col("partition") != f.col("first.partition")) | (f.col("offset") != f.col("first.offset")))
    )
    of_record = ("topic", "partition", "offset", "producer_id", "producer_epoch", "base_sequence")
    columns = {name: name for name in (*of_record, "event_id", "timestamp")}
    rule = Rule("event", "duplicate", f.lit(True), f.lit(1), _in_words(), f.col("first.offset"), _cause())
    return findings_by(found, [rule], columns)


def _cause() -> Column:
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


def _in_words() -> Column:
    first = f.col("first")
    return in_words(
        *("producer ", f.col("producer_id"), " epoch ", f.col("producer_epoch"), " sequence ", f.col("sequence")),
        *("; first in partition ", first["partition"], " at offset ", first["offset"], " from producer "),
        *(first["producer_id"], " epoch ", first["producer_epoch"], " sequence ", first["sequence"]),
    )


def _without_id(events: DataFrame) -> DataFrame:
    nameless = (
        events.where(f.col("event_id").isNull())
        .groupBy("topic", "partition")
        .agg(f.count("*").alias("count"), f.min("offset").alias("offset"), f.min("timestamp").alias("timestamp"))
    )
    detail = in_words(f.col("count"), " records have no event id, the first of them at offset ", f.col("offset"))
    columns = {name: f.col(name) for name in ("topic", "partition", "offset", "count", "timestamp")}
    return findings_of(nameless, "event", "no_event_id", {**columns, "detail": detail})
