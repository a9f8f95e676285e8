"""The expected sequences of each producer's batches: no gap, no repeat, epochs in order.

Kafka accepts a batch that continues the producer's sequences or begins a newer epoch at 0. It accepts any sequence from
a producer without state, so the first batch behind retention may have any sequence.
Source: ProducerAppendInfo.checkSequence and checkProducerEpoch, Kafka 4.3.0.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from .log_order import PRODUCER

# Sequence 2147483647 is followed by 0.
SEQUENCES = 2**31


def with_sequence_steps(rows: DataFrame) -> DataFrame:
    """Add how each batch follows the earlier batches of its producer. rows: from with_producer_past.

    is_sequenced: a batch of records of an idempotent producer; the other columns are meaningless without it.
    sequence_from, sequence_to: its sequences, not wrapped. reached: the greatest sequence of the epoch's earlier
    batches, its offset, and the sum of missing offsets up to it (holes).
    first_offset: the offset of the first batch with the same epoch and sequences.
    """
    # Batches that are not sequenced form one group each, so that no task gets all of them.
    epoch = (*PRODUCER, "producer_epoch", "unsequenced")
    in_order = Window.partitionBy(*epoch).orderBy("log_order")
    so_far = in_order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    before = in_order.rowsBetween(Window.unboundedPreceding, -1)
    same_sequences = Window.partitionBy(*epoch, "sequence_from", "sequence_to").orderBy("log_order")
    is_sequenced = f.col("own_group").isNull() & ~f.col("is_control") & (f.col("base_sequence") >= 0)
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
    """Return the distance from the previous batch's last sequence + 1: 0 if the batch continues it.

    The first batch of an epoch returns its base sequence. The distance is the shorter one around the wrap.
    """
    base_sequence = f.col("base_sequence").cast("bigint")
    distance = base_sequence - f.col("sequence_before") - 1
    half = SEQUENCES // 2
    return f.coalesce(f.pmod(distance + half, f.lit(SEQUENCES)) - half, base_sequence)


def _start() -> Column:
    """Return `reached` for the first batch of an epoch.

    It is -1 if the log has the epoch's beginning: it begins at offset 0 or has an older epoch of the producer.
    Otherwise retention may have removed the beginning, and the batch has no gap before it.
    """
    is_whole = f.col("has_older_epoch") | (f.col("log_start_offset") == 0)
    return f.struct(
        f.when(is_whole, f.lit(-1)).otherwise(f.col("base_sequence") - 1).cast("bigint").alias("sequence"),
        f.lit(None).cast("bigint").alias("offset"),
        f.lit(0).cast("bigint").alias("holes"),
    )
