"""One run of the deduplication, from a log to a sink, as a batch or as a stream, and its counts.

The checkpoint of a stream stores its position and its event ids. A stream that was killed at any moment continues from
its checkpoint.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming.query import StreamingQuery

from ..bad_option import BadOption
from ..checks.decoded_fields import PROBLEM, with_decoded_fields
from ..checks.event_audit import audit_events
from ..checks.event_id import decode_problem, event_id_column, is_empty_id
from ..checks.event_id_parts import parse_event_id, text_of_parts
from ..checks.event_id_schemas import describe_schemas
from ..cluster.spark_session import has_data_sources
from ..cluster.stored_files import find_store
from ..cluster.stored_frames import check_new, write_parquet
from ..read.log_frame import read_log
from ..read.log_identity import identity_of
from ..read.object_store import ArrowFiles
from ..read.options import parse_options
from ..schemas.schema_options import NO_SCHEMAS, SchemaOptions
from ..sessions.observed_row import observed_values
from .dedup import (
    COUNT_NAMES,
    counts_of,
    first_copies,
    first_copies_of_stream,
)
from .dedup_sinks import ObjectStoreSink, ParquetSink, Sink, TopicSink, write_to_topic
from .text_file import find_text, write_text

# Each trigger costs the broker a few requests.
TRIGGER_INTERVAL = "1 second"
# Spark keeps the progress of the last hundred micro-batches, so the poll must be more frequent than those.
POLL_SECONDS = 1
# A micro-batch that takes longer to end is aborted at shutdown.
STOP_SECONDS_MAX = 60
STOP_POLL_SECONDS = 0.05

_V1_FORMATS_KEY = "spark.sql.sources.useV1SourceList"
NEEDS_NEW_FOLDER = ", and --batch needs a new folder"
_READ = "read"
_KEPT = "kept"

# Names inside the output folder and the checkpoint. Readers of parquet ignore names that begin with _.
CHECKPOINT_IN_PARQUET = "_checkpoint"
MARK_IN_CHECKPOINT = "fauxka-topic-mark"
JOB_IN_CHECKPOINT = "fauxka-job"


@dataclass(frozen=True, slots=True)
class DedupJob:
    """The source, the event id and the target of a run. source: options of the data source. to: a path or a topic."""

    source: Mapping[str, str]
    event_id: str
    to: str
    # The broker of the topic; None if `to` is a path.
    to_bootstrap: str | None
    window: str
    checkpoint: str | None
    is_empty_an_id: bool = False
    # Options for the connections to that broker (connection_options).
    to_connection: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    schemas: SchemaOptions = NO_SCHEMAS

    @property
    def identity(self) -> Column:
        """The event id as a column. Raises BadOption."""
        return event_id_column(self.event_id, is_empty_an_id=self.is_empty_an_id)

    @property
    def counts(self) -> tuple[Column, ...]:
        """The aggregates of the source's records. Raises BadOption."""
        is_empty = f.lit(False) if self.is_empty_an_id else is_empty_id(self.event_id)
        return counts_of(self.identity, is_empty, decode_problem(self.event_id))

    def decoded(self, records: DataFrame) -> DataFrame:
        """Return records with the fields that identity reads. Raises BadOption."""
        return with_decoded_fields(records, self.event_id, self.schemas)

    @property
    def target(self) -> Mapping[str, str] | None:
        """The options of the data source for the target topic; None if the target is a path."""
        if self.to_bootstrap is None:
            return None
        return {**self.to_connection, "bootstrap": self.to_bootstrap, "topics": self.to}

    @property
    def checkpoint_path(self) -> str:
        """The checkpoint folder of a stream. Raises BadOption if it is not set for a topic or an object store."""
        if self.checkpoint is not None:
            return self.checkpoint
        if self.to_bootstrap is not None:
            raise BadOption("checkpoint: must be set for a stream to a topic")
        if self.stored_target is not None:
            raise BadOption("checkpoint: must be set for a stream to an object store, to a folder that Spark can write")
        return f"{self.to.rstrip('/')}/{CHECKPOINT_IN_PARQUET}"

    @property
    def stored_target(self) -> tuple[ArrowFiles, str] | None:
        """The object store of the target and its URI; None for a topic and a path that Spark writes by itself."""
        return None if self.to_bootstrap is not None else find_store("to", self.to)


@dataclass(frozen=True, slots=True)
class DedupCounts:
    """The counts of a run."""

    records_read: int = 0
    without_event_id: int = 0
    # Among those without an event id.
    empty_ids: int = 0
    undecodable: int = 0
    damaged_batches: int = 0
    kept: int = 0
    # Of one of the undecodable records.
    problem: str | None = None

    @property
    def dropped(self) -> int:
        """The number of further copies."""
        return self.records_read - self.kept

    def plus(self, other: DedupCounts) -> DedupCounts:
        """Return the sum of both."""
        return DedupCounts(
            self.records_read + other.records_read,
            self.without_event_id + other.without_event_id,
            self.empty_ids + other.empty_ids,
            self.undecodable + other.undecodable,
            self.damaged_batches + other.damaged_batches,
            self.kept + other.kept,
            self.problem or other.problem,
        )


def run_batch(spark: SparkSession, job: DedupJob) -> DedupCounts:
    """Write the first copy of each event in the present log. Raises BadOption, also if the target path exists."""
    read, kept = Observation(_READ), Observation(_KEPT)
    records = job.decoded(read_log(spark, job.source)).observe(read, *job.counts)
    copies = first_copies(records, job.identity).observe(kept, f.count(f.lit(1)).alias(_KEPT))
    stored = job.stored_target
    if stored is not None:
        check_new("to", *stored, NEEDS_NEW_FOLDER)
        write_parquet("to", copies, *stored)
    elif job.target is None:
        write_new_folder(copies, job.to)
    else:
        with kafka_v2_sink(spark):
            write_to_topic(copies, job.target)
    return counts_in(read.get, kept.get)


@contextmanager
def kafka_v2_sink(spark: SparkSession) -> Generator[None, None, None]:
    """Use the V2 sink of the format kafka within the block.

    The default V1 sink runs the write as another query without observations, so Observation.get would block forever.
    """
    before = spark.conf.get(_V1_FORMATS_KEY) or ""
    spark.conf.set(_V1_FORMATS_KEY, ",".join(name for name in before.split(",") if name != "kafka"))
    try:
        yield
    finally:
        spark.conf.set(_V1_FORMATS_KEY, before)


def copies_by_cause(spark: SparkSession, job: DedupJob) -> dict[str, int]:
    """Return the number of further copies in the present source by cause, the largest number first."""
    records, batches = (read_log(spark, {**job.source, "view": view}) for view in ("records", "batches"))
    findings = audit_events(job.decoded(records), job.identity, batches)
    copies = findings.where((f.col("check") == "event") & (f.col("kind") == "duplicate"))
    counted = copies.groupBy("cause").agg(f.sum("count").alias("copies"))
    return {row["cause"]: row["copies"] for row in counted.orderBy(f.desc("copies"), "cause").collect()}


def write_new_folder(copies: DataFrame, path: str) -> None:
    """Write parquet to a new folder. Raises BadOption if it exists."""
    try:
        copies.write.mode("error").parquet(path)
    except AnalysisException as error:
        if "PATH_ALREADY_EXISTS" not in str(error):
            raise
        raise BadOption(f"to: {path} exists already{NEEDS_NEW_FOLDER}") from error


def counts_in(read: Mapping[str, Any], kept: Mapping[str, int]) -> DedupCounts:
    """Return the counts of the observations `read` and `kept`."""
    return DedupCounts(**{name: read[name] for name in COUNT_NAMES}, kept=kept[_KEPT], problem=read[PROBLEM])


def start_stream(spark: SparkSession, job: DedupJob, *, is_endless: bool) -> StreamingQuery:
    """Start the streaming query. is_endless: False ends it at the present end of the source. Raises BadOption."""
    if not has_data_sources(spark):
        raise BadOption(f"a stream needs Spark 4, not {spark.version}; --batch works with Spark 3.5")
    # All checks come before check_same_job, which writes to the checkpoint.
    identity, checkpoint = job.identity, job.checkpoint_path
    sink = sink_of(job)
    # Fails now instead of in the first micro-batch if the topic does not exist.
    if isinstance(sink, TopicSink):
        sink.ends()
    check_same_job(spark, job)
    records = spark.readStream.format("fauxka-log").options(**job.source).load()
    observed = job.decoded(records).observe(_READ, *job.counts)
    copies = first_copies_of_stream(observed, identity, job.window)
    kept = copies.observe(_KEPT, f.count(f.lit(1)).alias(_KEPT))
    writer = kept.writeStream.foreachBatch(sink.write).option("checkpointLocation", checkpoint)
    if is_endless:
        return writer.trigger(processingTime=TRIGGER_INTERVAL).start()
    return writer.trigger(availableNow=True).start()


def check_same_job(spark: SparkSession, job: DedupJob) -> None:
    """Raise BadOption if the checkpoint is of another job: of another log, or with other event ids.

    Offsets and event ids of another log would be taken for those of this one, and its events be lost.
    """
    path = f"{job.checkpoint_path}/{JOB_IN_CHECKPOINT}"
    now = description_of(job)
    before = find_text(spark, path)
    if before is None:
        if job.stored_target is not None:
            # Micro-batches of another checkpoint have the same numbers.
            check_new("to", *job.stored_target, f", and the checkpoint {job.checkpoint_path} is new")
        write_text(spark, path, json.dumps(now))
        return
    stored: dict[str, str] = json.loads(before)
    other = [name for name in now if stored.get(name) != now[name]]
    if other:
        raise BadOption(
            f"checkpoint: {job.checkpoint_path} is of another job, with "
            f"{', '.join(f'{name} {stored.get(name)}' for name in other)}"
            f" and not {', '.join(f'{name} {now[name]}' for name in other)}"
        )


def description_of(job: DedupJob) -> dict[str, str]:
    """Return what must stay the same over the runs of a stream. Raises BadOption, BrokerError."""
    stored = job.stored_target
    to = job.to if stored is None else stored[1]
    if job.target is None and "://" not in to:
        to = os.path.abspath(to)
    described = describe_schemas(job.event_id, job.schemas)
    return {
        **({} if described is None else {"schemas": described}),
        "source": f"{job.source['topics']} of {identity_of(parse_options(job.source))}",
        "event id": f"{text_of_parts(parse_event_id(job.event_id))}{' (or empty)' if job.is_empty_an_id else ''}",
        "target": to if job.target is None else f"{to} of {identity_of(parse_options(job.target))}",
    }


def sink_of(job: DedupJob) -> Sink:
    """Return the sink of a stream."""
    if job.stored_target is not None:
        return ObjectStoreSink(*job.stored_target)
    if job.target is None:
        return ParquetSink(job.to.rstrip("/"))
    mark_path = f"{job.checkpoint_path}/{MARK_IN_CHECKPOINT}"
    return TopicSink(job.target, job.identity, mark_path, job.decoded)


class StreamTally:
    """Sums the counts of a query's micro-batches."""

    def __init__(self, query: StreamingQuery) -> None:
        """query: counted from its first micro-batch in this process."""
        self._query = query
        self._last_batch = -1
        self.counts = DedupCounts()

    def update(self) -> bool:
        """Add the micro-batches that ended since the last call. Return whether the counts changed."""
        before = self.counts
        for progress in self._query.recentProgress:
            observed = progress["observedMetrics"]
            if progress["batchId"] <= self._last_batch or _READ not in observed or _KEPT not in observed:
                continue
            self._last_batch = progress["batchId"]
            self.counts = self.counts.plus(counts_in(*(observed_values(observed[name]) for name in (_READ, _KEPT))))
        return self.counts != before


def follow(query: StreamingQuery, is_stopped: Callable[[], bool], report: Callable[[DedupCounts], None]) -> DedupCounts:
    """Wait until a stream ends or is_stopped returns true, and report the counts when they change.

    Raises StreamingQueryException if the stream fails, unless it was stopped: a signal breaks the calls of the JVM.
    """
    tally = StreamTally(query)
    try:
        while not is_stopped() and not query.awaitTermination(POLL_SECONDS):
            if tally.update():
                report(tally.counts)
        wait_for_micro_batch(query, tally)
    except StreamingQueryException:
        if not is_stopped():
            raise
    finally:
        query.stop()
    tally.update()
    return tally.counts


def wait_for_micro_batch(query: StreamingQuery, tally: StreamTally) -> None:
    """Wait for the progress of the running micro-batch, STOP_SECONDS_MAX at most; the next run repeats it then.

    A micro-batch stopped between its commit and its progress would be in the sink but in no run's counts.
    """
    deadline = time.monotonic() + STOP_SECONDS_MAX
    tally.update()
    while query.isActive and query.status["isTriggerActive"] and not tally.update() and time.monotonic() < deadline:
        time.sleep(STOP_POLL_SECONDS)
