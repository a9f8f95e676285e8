"""Sinks of a deduplicated stream: parquet (exactly once) and a topic (effectively once).

A micro-batch that is repeated after a failure has the same records again.
- Parquet: each micro-batch has its own folder, named by its number, which a repetition overwrites.
- Parquet in an object store: the same folders, written by pyarrow. The event ids of a partition of the state are the
  same in a repetition, and so is the name of its object. A folder with a marker is complete and never written again.
- Topic: a repetition reads what was written to the topic since its first attempt began, and leaves out those events.
  Two cases can still be written twice: records without event id, and a request of a killed writer that the broker
  appends after that read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from ..cluster.stored_frames import has_marker, write_parquet
from ..read.fetch_log import FetchLog
from ..read.java_client import java_options
from ..read.log_frame import read_log
from ..read.object_store import ArrowFiles
from ..read.options import parse_options
from .dedup import EVENT_ID, with_event_ids
from .text_file import find_text, write_text

BATCH_COLUMN = "batch"


class Sink(Protocol):
    """The target of the kept copies."""

    def write(self, kept: DataFrame, batch_number: int) -> None:
        """Write a micro-batch. A repeated batch_number is a repetition of the same micro-batch."""
        ...


@dataclass(frozen=True, slots=True)
class ParquetSink:
    """Folders batch=N of parquet files."""

    path: str

    def write(self, kept: DataFrame, batch_number: int) -> None:
        """Write or overwrite the folder of the micro-batch."""
        kept.write.mode("overwrite").parquet(f"{self.path}/{BATCH_COLUMN}={batch_number}")


@dataclass(frozen=True, slots=True)
class ObjectStoreSink:
    """Folders batch=N of parquet objects, each with a marker behind its last object."""

    store: ArrowFiles
    path: str

    def write(self, kept: DataFrame, batch_number: int) -> None:
        """Write the folder of the micro-batch, unless an earlier attempt has written it to its end."""
        folder = f"{self.path}/{BATCH_COLUMN}={batch_number}"
        if has_marker("to", self.store, folder):
            # The state of the micro-batch is computed with its rows.
            kept.write.format("noop").mode("overwrite").save()
        else:
            write_parquet("to", kept, self.store, folder)


@dataclass(frozen=True, slots=True)
class TopicMark:
    """The end offsets of a topic before a micro-batch was written, stored beside the checkpoint."""

    batch_number: int
    # By topic and partition, in the format of the option startingOffsets.
    ends: dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class TopicSink:
    """A topic, written with Spark's format kafka. Records of a source partition keep their order.

    target: the options of the data source for the topic.
    """

    target: Mapping[str, str] = field(repr=False)
    event_id: Column
    mark_path: str
    # Adds what event_id reads to the records view.
    decoded: Callable[[DataFrame], DataFrame] = lambda records: records

    def write(self, kept: DataFrame, batch_number: int) -> None:
        """Write the events that no earlier attempt of the micro-batch has written."""
        # A stream on a Connect server runs this in a process of the server, with another session.
        spark = kept.sparkSession
        mark = self._find_mark(spark)
        if mark is not None and mark.batch_number == batch_number:
            kept = kept.join(self._written_since(spark, mark), EVENT_ID, "left_anti")
        else:
            self._set_mark(spark, TopicMark(batch_number, self.ends()))
        write_to_topic(kept, self.target)

    def ends(self) -> dict[str, dict[str, int]]:
        """Return the present end offsets of the topic. Raises BadOption if it does not exist."""
        offsets = FetchLog(parse_options(self.target)).ends()
        return {self.target["topics"]: {str(name.partition): offset for name, offset in sorted(offsets.items())}}

    def _written_since(self, spark: SparkSession, mark: TopicMark) -> DataFrame:
        rows = read_log(spark, {**self.target, "startingOffsets": json.dumps(mark.ends)})
        return (
            with_event_ids(self.decoded(rows), self.event_id)
            .where(f.col(EVENT_ID).isNotNull())
            .select(EVENT_ID)
            .distinct()
        )

    def _find_mark(self, spark: SparkSession) -> TopicMark | None:
        """Return the last mark; None for an incomplete one, because no write to the topic followed it."""
        line = find_text(spark, self.mark_path)
        if line is None:
            return None
        content = json.loads(line)
        return TopicMark(content["batch"], content["ends"])

    def _set_mark(self, spark: SparkSession, mark: TopicMark) -> None:
        write_text(spark, self.mark_path, json.dumps({"batch": mark.batch_number, "ends": mark.ends}))


def write_to_topic(kept: DataFrame, target: Mapping[str, str]) -> None:
    """Append records with key, value and headers to a topic. The producer chooses partitions by key.

    target: the options of the data source for the topic. Raises BadOption.
    """
    ordered = kept.repartition("topic", "partition").sortWithinPartitions("topic", "partition", "offset")
    rows = ordered.select(f.lit(target["topics"]).alias("topic"), "key", "value", "headers")
    options = {
        "kafka.bootstrap.servers": target["bootstrap"],
        "kafka.acks": "all",
        "kafka.enable.idempotence": "true",
        **java_options(target),
    }
    rows.write.format("kafka").mode("append").options(**options).save()
