"""Sinks of a deduplicated stream: parquet (exactly once) and a topic (effectively once).

A micro-batch that is repeated after a failure has the same records again.
- Parquet: each micro-batch has its own folder, named by its number, which a repetition overwrites.
- Topic: a repetition reads what was written to the topic since its first attempt began, and leaves out those events.
  Two cases can still be written twice: records without event id, and a request of a killed writer that the broker
  appends after that read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from ..read.fetch_log import FetchLog
from ..read.log_frame import read_log
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
class TopicMark:
    """The end offsets of a topic before a micro-batch was written, stored beside the checkpoint."""

    batch_number: int
    # By topic and partition, in the format of the option startingOffsets.
    ends: dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class TopicSink:
    """A topic, written with Spark's format kafka. Records of a source partition keep their order."""

    spark: SparkSession
    bootstrap: str
    topic: str
    event_id: Column
    mark_path: str
    # Adds what event_id reads to the records view.
    decoded: Callable[[DataFrame], DataFrame] = lambda records: records

    def write(self, kept: DataFrame, batch_number: int) -> None:
        """Write the events that no earlier attempt of the micro-batch has written."""
        mark = self._find_mark()
        if mark is not None and mark.batch_number == batch_number:
            kept = kept.join(self._written_since(mark), EVENT_ID, "left_anti")
        else:
            self._set_mark(TopicMark(batch_number, self.ends()))
        write_to_topic(kept, self.bootstrap, self.topic)

    def ends(self) -> dict[str, dict[str, int]]:
        """Return the present end offsets of the topic. Raises BadOption if it does not exist."""
        offsets = FetchLog(parse_options(self._source)).ends()
        return {self.topic: {str(name.partition): offset for name, offset in sorted(offsets.items())}}

    @property
    def _source(self) -> Mapping[str, str]:
        return {"bootstrap": self.bootstrap, "topics": self.topic}

    def _written_since(self, mark: TopicMark) -> DataFrame:
        rows = read_log(self.spark, {**self._source, "startingOffsets": json.dumps(mark.ends)})
        return (
            with_event_ids(self.decoded(rows), self.event_id)
            .where(f.col(EVENT_ID).isNotNull())
            .select(EVENT_ID)
            .distinct()
        )

    def _find_mark(self) -> TopicMark | None:
        """Return the last mark; None for an incomplete one, because no write to the topic followed it."""
        line = find_text(self.spark, self.mark_path)
        if line is None:
            return None
        content = json.loads(line)
        return TopicMark(content["batch"], content["ends"])

    def _set_mark(self, mark: TopicMark) -> None:
        write_text(self.spark, self.mark_path, json.dumps({"batch": mark.batch_number, "ends": mark.ends}))


def write_to_topic(kept: DataFrame, bootstrap: str, topic: str) -> None:
    """Append records with key, value and headers to a topic. The producer chooses partitions by key."""
    ordered = kept.repartition("topic", "partition").sortWithinPartitions("topic", "partition", "offset")
    rows = ordered.select(f.lit(topic).alias("topic"), "key", "value", "headers")
    options = {"kafka.bootstrap.servers": bootstrap, "kafka.acks": "all", "kafka.enable.idempotence": "true"}
    rows.write.format("kafka").mode("append").options(**options).save()
