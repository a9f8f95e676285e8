"""One run of the command `dedup`: checks, Spark session, stream or batch, and the printed counts."""

from __future__ import annotations

import signal
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import click
from pyspark.sql import SparkSession

from ...client.errors import BrokerError
from ..bad_option import BadOption
from ..checks.event_id_schemas import check_event_id
from ..cluster.connect_server import find_server
from ..cluster.spark_log import logged_session
from ..cluster.spark_session import start_session
from ..cluster.stored_frames import check_new
from ..read.java_client import java_options
from ..read.log_identity import identity_of
from ..read.log_splits import open_log
from ..read.options import parse_options
from .checkpoint_jars import check_checkpoint_jars
from .dedup import check_window
from .dedup_job import NEEDS_NEW_FOLDER, DedupCounts, DedupJob, copies_by_cause, follow, run_batch, start_stream


@dataclass(frozen=True, slots=True)
class DedupRun:
    """The parsed arguments of the command. settings: Spark configuration keys. has_causes: print causes of copies."""

    job: DedupJob
    master: str | None
    settings: Mapping[str, str]
    is_batch: bool
    is_endless: bool
    has_causes: bool


def run_dedup(run: DedupRun) -> None:
    """Run the job and print its counts. Raises BadOption, also for a failure of Spark or of a broker."""
    try:
        if not run.is_batch and find_server(run.master, run.settings) is None:
            check_checkpoint_jars(run.job.checkpoint_path, run.settings)
        check_job(run.job, is_batch=run.is_batch)
        has_topic = run.job.target is not None
        start = partial(start_session, run.master, with_kafka=has_topic, settings=run.settings)
        with logged_session("dedup", start) as spark:
            run_by_spark(spark, run)
    except BrokerError as error:
        raise BadOption(str(error)) from error
    except OSError as error:
        # Of a store; Spark's failures are other exceptions.
        if error.strerror is None:
            raise
        raise BadOption(f"{error.filename} cannot be read or written: {error.strerror}") from error


def run_by_spark(spark: SparkSession, run: DedupRun) -> None:
    """Run the job in a session and print its counts."""
    job = run.job
    counts = run_batch(spark, job) if run.is_batch else run_stream(spark, job, is_endless=run.is_endless)
    click.echo("\n".join([*count_lines(counts, job), *open_transaction_lines(job)]))
    # A later run of a stream may read nothing else.
    if run.is_batch and counts.undecodable and counts.without_event_id == counts.records_read:
        raise BadOption(f"event-id: no record of {job.source['topics']} has {job.event_id}: {counts.problem}")
    if run.has_causes:
        causes = copies_by_cause(spark, job)
        click.echo(f"further copies of events in {job.source['topics']}: {sum(causes.values())}")
        for cause, copies in causes.items():
            click.echo(f"  {copies} {cause}")


def broker_of(to: str, bootstrap: str | None) -> str | None:
    """Return the broker of the target topic; None for a path. Raises BadOption if the broker is missing."""
    if "/" in to:
        return None
    if bootstrap is None:
        raise BadOption(f"to: the topic {to} needs --to-bootstrap; a folder must contain a /, such as ./{to}")
    return bootstrap


def check_job(job: DedupJob, *, is_batch: bool) -> None:
    """Check, before Spark starts, that source and target exist. Raises BadOption, BrokerError."""
    check_window(job.window)
    check_event_id(job.event_id, job.schemas)
    if not is_batch:
        assert job.checkpoint_path, "checkpoint_path raises BadOption if it is missing"
    elif job.stored_target is not None:
        check_new("to", *job.stored_target, NEEDS_NEW_FOLDER)
    if job.target is not None:
        java_options(job.target)
    source = parse_options(job.source)
    open_log(source).ends()
    if job.target is not None:
        target = parse_options(job.target)
        open_log(target).ends()
        # A broker has several names, so the addresses need not be equal.
        if identity_of(target).shares_topic(identity_of(source)):
            raise BadOption(f"to: {job.to} is also the source; its end would never be reached")


def run_stream(spark: SparkSession, job: DedupJob, *, is_endless: bool) -> DedupCounts:
    """Run the stream until it ends or is stopped by a signal. Raises BadOption, StreamingQueryException."""
    stopped = threading.Event()
    # Installed after the session, because Spark's own handler would interrupt a call to the JVM.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: stopped.set())
    return follow(start_stream(spark, job, is_endless=is_endless), stopped.is_set, print_progress)


def print_progress(counts: DedupCounts) -> None:
    """Print the counts of a stream so far to stderr."""
    click.echo(f"read {counts.records_read}, kept {counts.kept}, dropped {counts.dropped}", err=True)


def count_lines(counts: DedupCounts, job: DedupJob) -> list[str]:
    """Return the counts of a run as lines of text."""
    kind = "parquet" if job.to_bootstrap is None else f"topic on {job.to_bootstrap}"
    lines = [
        f"read {counts.records_read} records of {job.source['topics']}",
        f"kept {counts.kept}, in {job.to} ({kind})",
        f"dropped {counts.dropped} as further copies",
    ]
    if counts.without_event_id:
        empty = f" ({counts.empty_ids} have an empty one)" if counts.empty_ids else ""
        lines.append(
            f"{counts.without_event_id} without {job.event_id}{empty}: all kept, because they have no event id"
        )
    if counts.undecodable:
        lines.append(f"{counts.undecodable} of them cannot be decoded, such as: {counts.problem}")
    if counts.damaged_batches:
        lines.append(f"{counts.damaged_batches} batches could not be read and were left out")
    return lines


def open_transaction_lines(job: DedupJob) -> list[str]:
    """Return a line for each partition that is read only up to its earliest open transaction."""
    offsets = open_log(parse_options(job.source)).open_transaction_offsets()
    return [
        f"{name.topic_name}-{name.partition} is read up to offset {offset}, where an open transaction begins"
        for name, offset in sorted(offsets.items())
    ]
