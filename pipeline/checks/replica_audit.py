"""Comparison of a log with another replica of its partitions: the records that only one of the two has.

- Batches are compared by their offsets, leader epoch and CRC. Replicas have the same bytes.
- What is compared begins at the later log start offset, and behind what cleaning has changed in either replica: each
  broker deletes and cleans on its own.
- A replica may have records that the other one does not have: a follower lags behind, and a leader that crashed has
  records that no follower got. It drops them when it comes back. Such records are `unreplicated_records`, no fault:
  producers with acks=1 lose them.
- Records in front of both high watermarks are committed, so they must be the same: otherwise `replica_divergence`. The
  same holds for a replica that ends in front of its own high watermark. Without a checkpoint of the high watermarks all
  records of a replica count as committed.

Source: KIP-101; Partition.maybeIncrementLeaderHW, ReplicaManager.checkpointHighWatermarks, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from ...storage.log_files import PartitionName
from ..bad_option import BadOption
from ..read.options import LISTING, parse_options
from ..read.stored_listing import segments_of, with_listing
from .audited_range import RANGE_OPTIONS
from .findings import findings_of, in_words
from .log_state import LogState

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DIVERGENCE = "replica_divergence"
UNREPLICATED = "unreplicated_records"

# The columns of the batches view that are read.
REPLICA_COLUMNS = (
    *("topic", "partition", "base_offset", "last_offset", "leader_epoch", "crc", "records_count", "valid_crc"),
)
_PARTITION = ("topic", "partition")
_TOPIC_OPTIONS = frozenset({"topics", "topicpattern"})
# The files of the audited log, and the offsets of its partitions. A remote tier is the same for all replicas.
_OF_LOG_ONLY = RANGE_OPTIONS | {"path", "tier", LISTING}
_PLACES_SCHEMA = (
    "topic string, partition int, compared_from bigint, log_high_watermark bigint, replica_high_watermark bigint"
)


class ComparedPartition(NamedTuple):
    """Where the comparison of a partition begins, and the high watermarks of both replicas; None: unknown."""

    topic: str
    partition: int
    compared_from: int
    log_high_watermark: int | None
    replica_high_watermark: int | None


def replica_options(options: Mapping[str, str], place: str) -> dict[str, str]:
    """List the files of a replica, and return options of the data source that read its audited topics.

    options: of the audited log. place: the log directory of another broker. Raises BadOption.
    """
    if parse_options(options).path is None:
        raise BadOption("replica: needs --path, the log directory of a broker, to compare with")
    kept = {name: text for name, text in options.items() if name.lower() not in _OF_LOG_ONLY}
    try:
        listed = with_listing({**kept, "path": place})
        found = segments_of(parse_options(listed))
    except BadOption as error:
        raise BadOption(str(error).replace("path:", "replica:", 1)) from error
    if not found:
        raise BadOption(f"replica: {place} has none of the audited topics")
    chosen = {name: text for name, text in listed.items() if name.lower() not in _TOPIC_OPTIONS}
    return {**chosen, "topics": ",".join(sorted({name.topic_name for name in found}))}


def compared_partitions(log: LogState, replica: LogState) -> list[ComparedPartition]:
    """Return the partitions that both have."""
    of_replica = {(one.topic, one.partition): one for one in replica.bounds}
    found: list[ComparedPartition] = []
    for one in log.bounds:
        other = of_replica.get((one.topic, one.partition))
        if other is not None:
            name = PartitionName(one.topic, one.partition)
            compared_from = max(one.log_start, one.cleaned_before, other.log_start, other.cleaned_before)
            watermarks = (log.high_watermarks.get(name), replica.high_watermarks.get(name))
            found.append(ComparedPartition(*name, compared_from, *watermarks))
    return found


def compared_frame(spark: SparkSession, compared: list[ComparedPartition]) -> DataFrame:
    """Return the partitions as a frame, one small row for each."""
    return spark.createDataFrame(compared, _PLACES_SCHEMA)


def audit_replica(log: DataFrame, replica: DataFrame, compared: DataFrame, place: str) -> DataFrame:
    """Return a finding for each partition of which one replica has records that the other one does not have.

    log, replica: the batches views with REPLICA_COLUMNS. compared: from compared_frame. place: of the replica.
    """
    sides = _side(log, "log").join(_side(replica, "replica"), [*_PARTITION, "base_offset"], "full")
    # One small row for each partition. A replica without a batch ends where the comparison begins.
    ends = sides.groupBy(*_PARTITION).agg(
        *((f.max(f"{side}.last_offset") + 1).alias(f"{side}_end") for side in ("log", "replica"))
    )
    places = compared.join(ends, [*_PARTITION]).withColumns(
        {name: f.coalesce(name, "compared_from") for name in ("log_end", "replica_end")}
    )
    rows = sides.join(f.broadcast(places), [*_PARTITION]).where(f.col("base_offset") >= f.col("compared_from"))
    is_within = f.col("base_offset") < f.least("log_end", "replica_end")
    rows = rows.withColumn("is_same", f.col("log").eqNullSafe(f.col("replica")))
    differences = rows.where(is_within & ~f.col("is_same")).groupBy(*_PARTITION)
    first = differences.agg(f.min("base_offset").alias("first_difference"))
    rows = rows.join(f.broadcast(first), [*_PARTITION], "left")
    alone_from = f.coalesce("first_difference", f.least("log_end", "replica_end"))
    return _findings(_counted(rows.withColumn("alone_from", alone_from)), place)


def _side(batches: DataFrame, side: str) -> DataFrame:
    """Return the batches with a right CRC, one struct named side for each offset."""
    content = f.struct("last_offset", "leader_epoch", "crc", "records_count")
    trusted = batches.where(f.col("valid_crc") & f.col("base_offset").isNotNull())
    return trusted.groupBy(*_PARTITION, "base_offset").agg(f.max(content).alias(side))


def _counted(rows: DataFrame) -> DataFrame:
    """Return one row for each partition with records of one replica only. rows: with alone_from and is_same."""
    is_alone = f.col("base_offset") >= f.col("alone_from")
    kept = ("alone_from", "first_difference", "log_end", "replica_end")
    watermarks = ("log_high_watermark", "replica_high_watermark")
    counted = rows.groupBy(*_PARTITION, *kept, *watermarks).agg(
        *(
            f.coalesce(f.sum(f.when(is_alone, f.col(f"{side}.records_count"))), f.lit(0)).alias(f"{side}_records")
            for side in ("log", "replica")
        ),
        *(
            f.min_by(
                f.col(f"{side}.leader_epoch"), f.when(is_alone & f.col(side).isNotNull(), f.col("base_offset"))
            ).alias(f"{side}_epoch")
            for side in ("log", "replica")
        ),
        f.max_by("log.leader_epoch", f.when(~is_alone & f.col("is_same"), f.col("base_offset"))).alias("common_epoch"),
    )
    return counted.where(f.col("log_records") + f.col("replica_records") > 0)


def _findings(counted: DataFrame, place: str) -> DataFrame:
    log, replica = f.col("log_records"), f.col("replica_records")
    alone_from = f.col("alone_from")
    agreed = f.when(f.col("common_epoch").isNull(), "they agree on no record").otherwise(
        in_words("they agree up to offset ", alone_from - 1, " of leader epoch ", f.col("common_epoch"))
    )
    detail = in_words(
        *("only the log has ", _records(log, "log_epoch"), ", only the replica ", f.lit(place), " has "),
        *(_records(replica, "replica_epoch"), "; ", agreed),
    )
    columns: dict[str, str | Column] = {name: name for name in _PARTITION}
    columns |= {"offset": alone_from, "other_offset": alone_from - 1, "count": log + replica, "detail": detail}
    kind = f.when(_is_committed(), DIVERGENCE).otherwise(UNREPLICATED)
    return findings_of(counted, "log", kind, columns)


def _records(count: Column, epoch: str) -> Column:
    """Return a number of records and the leader epoch of the first of them in words."""
    of_epoch = f.when(count > 0, in_words(" from leader epoch ", f.col(epoch), " on")).otherwise("")
    return f.concat(count.cast("string"), f.lit(" records"), of_epoch)


def _is_committed() -> Column:
    """Return whether a committed record is in one replica only."""
    ends, known = (f.col("log_end"), f.col("replica_end")), ("log_high_watermark", "replica_high_watermark")
    watermarks = [f.coalesce(f.col(name), end) for name, end in zip(known, ends, strict=True)]
    is_behind_own = (watermarks[0] > ends[0]) | (watermarks[1] > ends[1])
    return f.when(f.col("first_difference").isNull(), is_behind_own).otherwise(
        f.col("first_difference") < f.least(*watermarks)
    )
