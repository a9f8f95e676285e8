"""One run of the deduplication: from a log to a sink, as a batch or as a stream, and what came of it.

A stream keeps in its checkpoint how far it has read and which event ids it remembers. Killed at any moment and started
anew with the same checkpoint, it goes on where it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming.query import StreamingQuery

from ..bad_option import BadOption
from ..event_audit import audit_events
from ..event_id import event_id_column
from ..log_frame import read_log
from ..spark.spark_session import has_data_sources
from ..text_file import find_text, write_text
from .dedup import (
    DAMAGED_BATCHES,
    RECORDS_READ,
    WITHOUT_EVENT_ID,
    counts_of,
    first_copies,
    first_copies_of_stream,
)
from .dedup_sinks import ParquetSink, Sink, TopicSink, write_to_topic

# A look for new records costs the broker a few requests.
TRIGGER_INTERVAL = "1 second"
# How often a running stream is asked for what it has done: it keeps the last hundred micro-batches.
POLL_SECONDS = 1
# A micro-batch that takes longer to end is broken off.
STOP_SECONDS_MAX = 60
STOP_POLL_SECONDS = 0.05

_V1_FORMATS_KEY = "spark.sql.sources.useV1SourceList"
_READ = "read"
_KEPT = "kept"

# What a checkpoint and the folders of a stream are named inside what they belong to; files that begin with _ are none
# of the table's to all that read parquet.
CHECKPOINT_IN_PARQUET = "_checkpoint"
MARK_IN_CHECKPOINT = "fauxka-topic-mark"
JOB_IN_CHECKPOINT = "fauxka-job"


@dataclass(frozen=True, slots=True)
class DedupJob:
    """What to read, how events are told apart, and where what stays goes: to a path, or to a topic of a broker."""

    source: Mapping[str, str]
    event_id: str
    to: str
    # The broker of the topic; None if `to` is a path.
    to_bootstrap: str | None
    window: str
    checkpoint: str | None

    @property
    def identity(self) -> Column:
        """The column that tells events apart. Raises BadOption."""
        return event_id_column(self.event_id)

    @property
    def checkpoint_path(self) -> str:
        """Where a stream keeps its place. Raises BadOption if a topic's is not said."""
        if self.to_bootstrap is None:
            return f"{self.to.rstrip('/')}/{CHECKPOINT_IN_PARQUET}"
        if self.checkpoint is None:
            raise BadOption("checkpoint: a stream into a topic needs a folder in which it keeps its place")
        return self.checkpoint


@dataclass(frozen=True, slots=True)
class DedupCounts:
    """What a run did."""

    records_read: int = 0
    without_event_id: int = 0
    damaged_batches: int = 0
    kept: int = 0

    @property
    def dropped(self) -> int:
        """How many were further copies of an event."""
        return self.records_read - self.kept

    def plus(self, other: DedupCounts) -> DedupCounts:
        """Return the sum of both."""
        return DedupCounts(
            self.records_read + other.records_read,
            self.without_event_id + other.without_event_id,
            self.damaged_batches + other.damaged_batches,
            self.kept + other.kept,
        )


def run_batch(spark: SparkSession, job: DedupJob) -> DedupCounts:
    """Write the first copy of each event that is there now.

    A path must be new. Raises BadOption.
    """
    read, kept = Observation(_READ), Observation(_KEPT)
    records = read_log(spark, job.source).observe(read, *counts_of(job.identity))
    copies = first_copies(records, job.identity).observe(kept, f.count(f.lit(1)).alias(_KEPT))
    if job.to_bootstrap is None:
        write_new_folder(copies, job.to)
    else:
        with newer_kafka_sink(spark):
            write_to_topic(copies, job.to_bootstrap, job.to)
    return counts_in(read.get, kept.get)


@contextmanager
def newer_kafka_sink(spark: SparkSession) -> Generator[None, None, None]:
    """Let batches go to topics by the newer of the two ways that the format has, for the length of the block.

    The older one, which is Spark's choice, runs the query as another one, of which no observation is ever told: who
    waits for it waits for ever.
    """
    before = spark.conf.get(_V1_FORMATS_KEY) or ""
    spark.conf.set(_V1_FORMATS_KEY, ",".join(name for name in before.split(",") if name != "kafka"))
    try:
        yield
    finally:
        spark.conf.set(_V1_FORMATS_KEY, before)


def copies_by_cause(spark: SparkSession, job: DedupJob) -> dict[str, int]:
    """Return how many further copies all of the source has now, by their causes; the largest number first."""
    records, batches = (read_log(spark, {**job.source, "view": view}) for view in ("records", "batches"))
    return causes_in(audit_events(records, job.identity, batches))


def causes_in(findings: DataFrame) -> dict[str, int]:
    """Return the copies among findings by their causes, of which there are few; the largest number first."""
    copies = findings.where((f.col("check") == "event") & (f.col("kind") == "duplicate"))
    counted = copies.groupBy("cause").agg(f.sum("count").alias("copies"))
    return {row["cause"]: row["copies"] for row in counted.orderBy(f.desc("copies"), "cause").collect()}


def write_new_folder(copies: DataFrame, path: str) -> None:
    """Write parquet where nothing is yet. Raises BadOption."""
    try:
        copies.write.mode("errorifexists").parquet(path)
    except AnalysisException as error:
        if "PATH_ALREADY_EXISTS" not in str(error):
            raise
        raise BadOption(f"to: {path} is there already, and a batch wants a new folder") from error


def counts_in(read: Mapping[str, int], kept: Mapping[str, int]) -> DedupCounts:
    """Return the counts that were observed on the way."""
    return DedupCounts(read[RECORDS_READ], read[WITHOUT_EVENT_ID], read[DAMAGED_BATCHES], kept[_KEPT])


def start_stream(spark: SparkSession, job: DedupJob, *, is_endless: bool) -> StreamingQuery:
    """Start to write the copies that are read first; without is_endless it ends with what is there now.

    Raises BadOption.
    """
    if not has_data_sources(spark):
        raise BadOption(f"a stream needs Spark 4, and this is {spark.version}; --batch reads what is there")
    # All that can be refused is, before the checkpoint is this job's.
    identity, checkpoint = job.identity, job.checkpoint_path
    sink = sink_of(spark, job)
    # A topic that is not there would else be found out in the middle of the first micro-batch.
    if isinstance(sink, TopicSink):
        sink.ends()
    check_same_job(spark, job)
    records = spark.readStream.format("fauxka-log").options(**job.source).load()
    observed = records.observe(_READ, *counts_of(identity))
    copies = first_copies_of_stream(observed, identity, job.window)
    kept = copies.observe(_KEPT, f.count(f.lit(1)).alias(_KEPT))
    writer = kept.writeStream.foreachBatch(writer_of(sink)).option("checkpointLocation", checkpoint)
    if is_endless:
        return writer.trigger(processingTime=TRIGGER_INTERVAL).start()
    return writer.trigger(availableNow=True).start()


def check_same_job(spark: SparkSession, job: DedupJob) -> None:
    """Raise BadOption if the checkpoint is of another job: event ids of two kinds know nothing of one another."""
    path = f"{job.checkpoint_path}/{JOB_IN_CHECKPOINT}"
    now = f"--from {job.source['topics']} --event-id {job.event_id} --to {job.to}"
    before = find_text(spark, path)
    if before is None:
        write_text(spark, path, now)
    elif before != now:
        raise BadOption(f"checkpoint: {job.checkpoint_path} is that of {before}, and not of {now}")


def sink_of(spark: SparkSession, job: DedupJob) -> Sink:
    """Return what a stream writes to."""
    if job.to_bootstrap is None:
        return ParquetSink(job.to.rstrip("/"))
    mark_path = f"{job.checkpoint_path}/{MARK_IN_CHECKPOINT}"
    return TopicSink(spark, job.to_bootstrap, job.to, job.identity, mark_path)


def writer_of(sink: Sink) -> Callable[[DataFrame, int], None]:
    """Return what Spark calls with each micro-batch."""

    def write(kept: DataFrame, batch_number: int) -> None:
        sink.write(kept, batch_number)

    return write


class StreamTally:
    """Adds up what a stream says of its micro-batches."""

    def __init__(self, query: StreamingQuery) -> None:
        """Count from the first one of this run."""
        self._query = query
        self._last_batch = -1
        self.counts = DedupCounts()

    def update(self) -> bool:
        """Take in the micro-batches that have ended since the last look; whether any had records."""
        before = self.counts
        for progress in self._query.recentProgress:
            observed = progress["observedMetrics"]
            if progress["batchId"] <= self._last_batch or _READ not in observed or _KEPT not in observed:
                continue
            self._last_batch = progress["batchId"]
            self.counts = self.counts.plus(counts_in(observed[_READ].asDict(), observed[_KEPT].asDict()))
        return self.counts != before


def follow(query: StreamingQuery, is_stopped: Callable[[], bool], say: Callable[[DedupCounts], None]) -> DedupCounts:
    """Wait until a stream ends, by itself or as it is_stopped, and say now and then what it has done so far.

    Raises StreamingQueryException if it fails.
    """
    tally = StreamTally(query)
    try:
        while not is_stopped() and not query.awaitTermination(POLL_SECONDS):
            if tally.update():
                say(tally.counts)
        wait_for_micro_batch(query, tally)
    finally:
        query.stop()
    tally.update()
    return tally.counts


def wait_for_micro_batch(query: StreamingQuery, tally: StreamTally) -> None:
    """Wait until the micro-batch that runs has said what it did; it is repeated by the next run if it takes too long.

    Stopped after its commit and before that, it would be in the sink and in no run's counts.
    """
    deadline = time.monotonic() + STOP_SECONDS_MAX
    tally.update()
    while query.isActive and query.status["isTriggerActive"] and not tally.update() and time.monotonic() < deadline:
        time.sleep(STOP_POLL_SECONDS)
