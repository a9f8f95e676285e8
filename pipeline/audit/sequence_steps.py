"""What each producer's batches should have for sequences: without gap, without repetition, and in order of epochs.

Kafka takes a batch if it continues the producer's sequences or begins a newer epoch at 0; where it knows nothing of the
producer it takes any sequence, so that a batch behind retention may begin anywhere.
Source: ProducerAppendInfo.checkSequence and checkProducerEpoch, Kafka 4.3.0.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from .log_order import PRODUCER

# After 2147483647 comes 0.
SEQUENCES = 2**31


def with_sequence_steps(rows: DataFrame) -> DataFrame:
    """Add how each batch follows those of its producer; rows come from with_producer_past.

    is_sequenced: records of an idempotent producer; the others have nothing of what is added.
    sequence_from, sequence_to: its sequences, counted on over the wrap. reached: how far the epoch's batches before had
    come (sequence), where that was (offset), and how many offsets the log lacked up to there (holes).
    first_offset: where the same sequences of the same epoch stand for the first time.
    """
    # What is not sequenced is a group each, so that no task holds all of it.
    epoch = (*PRODUCER, "producer_epoch", "unsequenced")
    in_order = Window.partitionBy(*epoch).orderBy("log_order")
    so_far = in_order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    before = in_order.rowsBetween(Window.unboundedPreceding, -1)
    same_sequences = Window.partitionBy(*epoch, "sequence_from", "sequence_to").orderBy("log_order")
    is_sequenced = f.col("apart").isNull() & ~f.col("is_control") & (f.col("base_sequence") >= 0)
    length = f.col("last_offset_delta").cast("bigint") + 1
    place = f.struct(f.col("sequence_to").alias("sequence"), f.col("last_offset").alias("offset"), f.col("holes"))
    return (
        rows.withColumn("is_sequenced", f.coalesce(is_sequenced, f.lit(False)))
        .withColumn("unsequenced", f.when(~f.col("is_sequenced"), f.col("log_order")))
        .withColumn("sequence_before", f.lag("last_sequence").over(in_order))
        .withColumn("sequence_to", f.sum(_step() + length).over(so_far) - 1)
        .withColumn("sequence_from", f.col("sequence_to") - length + 1)
        .withColumn("reached", f.coalesce(f.max(place).over(before), _start()))
        .withColumn("first_offset", f.first("base_offset").over(same_sequences))
    )


def _step() -> Column:
    """Return how far a batch begins from where the one before ended: 0 if it continues; the first one's base sequence.

    Of the two ways around the circle of sequences the shorter one is taken.
    """
    base_sequence = f.col("base_sequence").cast("bigint")
    distance = base_sequence - f.col("sequence_before") - 1
    half = SEQUENCES // 2
    return f.coalesce(f.pmod(distance + half, f.lit(SEQUENCES)) - half, base_sequence)


def _start() -> Column:
    """Return what goes before an epoch's first batch: nothing is missing if the log's beginning may be gone.

    It is not where the log begins at offset 0, or where an older epoch of the producer is there.
    """
    is_whole = f.col("has_older_epoch") | (f.col("log_start_offset") == 0)
    return f.struct(
        f.when(is_whole, f.lit(-1)).otherwise(f.col("base_sequence") - 1).cast("bigint").alias("sequence"),
        f.lit(None).cast("bigint").alias("offset"),
        f.lit(0).cast("bigint").alias("holes"),
    )
