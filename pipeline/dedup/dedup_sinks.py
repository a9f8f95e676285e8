"""Where the copies that stay go: parquet, each exactly once, or a topic, each effectively once.

A micro-batch that is repeated after a failure has the same records as before. In parquet it has a folder of its own by
its number, which the repetition writes anew; so whoever reads the folders sees each event once, with Spark or without.
A topic cannot be written anew. There the repetition looks at what has come into the topic since before its first
attempt, and leaves out the events that are there. What can still come twice: a request of a killed writer that the
broker takes in after that look, and records without event id.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, cast

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from ..log_frame import read_log
from ..options import parse_options
from ..source.fetch_log import FetchLog
from ..text_file import find_text, write_text
from .dedup import EVENT_ID, with_event_ids

BATCH_COLUMN = "batch"


class Sink(Protocol):
    """What takes the copies that stay."""

    def write(self, kept: DataFrame, batch_number: int) -> None:
        """Write a micro-batch; the same number again is the same one repeated."""
        ...


@dataclass(frozen=True, slots=True)
class ParquetSink:
    """Folders batch=N of parquet files."""

    path: str

    def write(self, kept: DataFrame, batch_number: int) -> None:
        """Write a folder anew."""
        kept.write.mode("overwrite").parquet(f"{self.path}/{BATCH_COLUMN}={batch_number}")


@dataclass(frozen=True, slots=True)
class TopicMark:
    """Where a topic ended before a micro-batch was written to it, kept beside the checkpoint."""

    batch_number: int
    # By topic and partition, as the data source takes starting offsets.
    ends: dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class TopicSink:
    """A topic, written by Spark's format kafka; the records of a partition keep their order."""

    spark: SparkSession
    bootstrap: str
    topic: str
    event_id: Column
    mark_path: str

    def write(self, kept: DataFrame, batch_number: int) -> None:
        """Write what is not there of an attempt before this one."""
        mark = self._find_mark()
        if mark is not None and mark.batch_number == batch_number:
            kept = kept.join(self._written_since(mark), EVENT_ID, "left_anti")
        else:
            self._set_mark(TopicMark(batch_number, self.ends()))
        write_to_topic(kept, self.bootstrap, self.topic)

    def ends(self) -> dict[str, dict[str, int]]:
        """Return where the topic ends now. Raises BadOption if it is not there."""
        offsets = FetchLog(parse_options(self._source)).ends()
        return {self.topic: {str(name.partition): offset for name, offset in sorted(offsets.items())}}

    @property
    def _source(self) -> Mapping[str, str]:
        return {"bootstrap": self.bootstrap, "topics": self.topic}

    def _written_since(self, mark: TopicMark) -> DataFrame:
        rows = read_log(self.spark, {**self._source, "startingOffsets": json.dumps(mark.ends)})
        return with_event_ids(rows, self.event_id).where(f.col(EVENT_ID).isNotNull()).select(EVENT_ID).distinct()

    def _find_mark(self) -> TopicMark | None:
        """Return the mark that was set last; one that was not set to its end is none, and nothing was written after."""
        line = find_text(self.spark, self.mark_path)
        if line is None:
            return None
        content: dict[str, object] = json.loads(line)
        return mark_of(content)

    def _set_mark(self, mark: TopicMark) -> None:
        write_text(self.spark, self.mark_path, json.dumps({"batch": mark.batch_number, "ends": mark.ends}))


def mark_of(content: Mapping[str, object]) -> TopicMark:
    """Return the mark that is written as JSON."""
    batch_number, ends = content["batch"], content["ends"]
    assert isinstance(batch_number, int) and isinstance(ends, dict), "a mark is as it was written"
    return TopicMark(batch_number, cast(dict[str, dict[str, int]], ends))


def write_to_topic(kept: DataFrame, bootstrap: str, topic: str) -> None:
    """Append records to a topic with key, value and headers; its partitions are chosen by the keys."""
    ordered = kept.repartition("topic", "partition").sortWithinPartitions("topic", "partition", "offset")
    rows = ordered.select(f.lit(topic).alias("topic"), "key", "value", "headers")
    options = {"kafka.bootstrap.servers": bootstrap, "kafka.acks": "all", "kafka.enable.idempotence": "true"}
    rows.write.format("kafka").mode("append").options(**options).save()
