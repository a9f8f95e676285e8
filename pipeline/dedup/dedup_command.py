"""The command `dedup`: write one copy of each event of a topic to parquet or another topic.

Spark is imported when the command runs. Invalid input prints one line and exits with code 2.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from ..bad_option import BadOption
from ..source.broker_connection import BrokerError
from ..spark.spark_jars import installed_series
from ..spark.spark_settings import settings_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from .dedup_job import DedupCounts, DedupJob

WINDOW_DEFAULT = "1 hour"
# Each partition costs a task and a few small files in every micro-batch.
STATE_PARTITIONS_DEFAULT = 4


@click.command()
@click.option("--from", "topic", required=True, metavar="TOPIC", help="The topic to read.")
@click.option("--bootstrap", metavar="HOST:PORT", help="Read the topic from this broker.")
@click.option("--path", metavar="DIR", help="Read the topic from segment files in this folder.")
@click.option(
    "--to",
    required=True,
    metavar="TOPIC|PATH",
    help="The topic to write, or a folder of parquet files if it contains a /.",
)
@click.option("--to-bootstrap", metavar="HOST:PORT", help="The broker of the topic of --to.  [default: --bootstrap]")
@click.option(
    "--event-id", required=True, metavar="ID", help="The event id of a record: key, header:NAME or json:$.path."
)
@click.option(
    "--within",
    "window",
    default=WINDOW_DEFAULT,
    show_default=True,
    metavar="TIME",
    help="How long a stream stores an event id after it was read.",
)
@click.option("--checkpoint", metavar="DIR", help="The checkpoint of a stream.  [default: inside a PATH]")
@click.option("is_ending", "--available-now", is_flag=True, help="End the stream at the present end of the topic.")
@click.option("is_batch", "--batch", is_flag=True, help="Read the present topic once, without a checkpoint.")
@click.option("--why/--no-why", default=True, help="Read the topic once more and print the causes of the copies.")
@click.option("--master", metavar="URL", help="Spark's master.  [default: local[*]]")
@click.option("assignments", "-c", "--conf", multiple=True, metavar="KEY=VALUE", help="Set a Spark configuration key.")
@click.option(
    "--state-partitions",
    type=click.IntRange(min=1),
    default=STATE_PARTITIONS_DEFAULT,
    show_default=True,
    help="Partitions of the state of a stream; fixed by its first run.",
)
def dedup(
    topic: str,
    bootstrap: str | None,
    path: str | None,
    to: str,
    to_bootstrap: str | None,
    event_id: str,
    window: str,
    checkpoint: str | None,
    is_ending: bool,
    is_batch: bool,
    why: bool,
    master: str | None,
    assignments: tuple[str, ...],
    state_partitions: int,
) -> None:
    """Write one copy of each event of a topic, and print how many copies were dropped and why.

    Runs as a stream until SIGINT or SIGTERM, and continues from its checkpoint at the next run. Delivery is exactly
    once to parquet and effectively once to a topic.
    """
    try:
        installed_series()
    except BadOption as error:
        raise click.ClickException(str(error)) from error
    # Spark takes a second to import, and may be missing.
    from ..spark.spark_errors import SPARK_ERRORS, failure_reason
    from .dedup import check_window
    from .dedup_job import DedupJob, copies_by_cause, run_batch

    try:
        job = DedupJob(
            source=source_options(topic, bootstrap, path),
            event_id=event_id,
            to=to,
            to_bootstrap=broker_of(to, to_bootstrap or bootstrap),
            window=check_window(window),
            checkpoint=checkpoint,
        )
        check_job(job, is_batch=is_batch)
        fixed = {} if is_batch else {"spark.sql.shuffle.partitions": str(state_partitions)}
        with session_of(job, master, {**settings_of(assignments), **fixed}) as spark:
            counts = run_batch(spark, job) if is_batch else run_stream(spark, job, is_endless=not is_ending)
            print_outcome(counts, job)
            if why:
                click.echo(causes_text(copies_by_cause(spark, job), job))
    except (BadOption, BrokerError) as error:
        raise click.ClickException(str(error)) from error
    except SPARK_ERRORS as error:
        raise click.ClickException(failure_reason(error)) from error


def source_options(topic: str, bootstrap: str | None, path: str | None) -> dict[str, str]:
    """Return the options of the data source. Raises BadOption unless exactly one source is set."""
    if (bootstrap is None) == (path is None):
        raise BadOption("set exactly one of --bootstrap (a broker's host:port) and --path (segment files)")
    # Records of aborted transactions are no events, and an open transaction may still be aborted.
    wanted = {"topics": topic, "isolationLevel": "read_committed"}
    return {**wanted, **({"bootstrap": bootstrap} if bootstrap is not None else {"path": path or ""})}


def broker_of(to: str, bootstrap: str | None) -> str | None:
    """Return the broker of the target topic; None for a path. Raises BadOption if the broker is missing."""
    if "/" in to:
        return None
    if bootstrap is None:
        raise BadOption(f"to: the topic {to} needs --to-bootstrap; a folder must contain a /, such as ./{to}")
    return bootstrap


def check_job(job: DedupJob, *, is_batch: bool) -> None:
    """Check, before Spark starts, that source and target exist. Raises BadOption, BrokerError."""
    from ..event_id import check_event_id
    from ..options import parse_options
    from ..source.log_splits import open_log

    check_event_id(job.event_id)
    if job.to == job.source["topics"] and job.to_bootstrap == job.source.get("bootstrap"):
        raise BadOption(f"to: {job.to} is also the source; its end would never be reached")
    if not is_batch:
        assert job.checkpoint_path, "checkpoint_path raises BadOption if it is missing"
    open_log(parse_options(job.source)).ends()
    if job.to_bootstrap is not None:
        open_log(parse_options({"bootstrap": job.to_bootstrap, "topics": job.to})).ends()


@contextmanager
def session_of(job: DedupJob, master: str | None, settings: dict[str, str]) -> Generator[SparkSession, None, None]:
    """Start a Spark session and stop it after the block. Raises BadOption."""
    from ..spark.spark_session import start_session

    spark = start_session(master, with_kafka=job.to_bootstrap is not None, settings=settings)
    try:
        yield spark
    finally:
        spark.stop()


def run_stream(spark: SparkSession, job: DedupJob, *, is_endless: bool) -> DedupCounts:
    """Run the stream until it ends or is stopped by a signal. Raises BadOption, StreamingQueryException."""
    from .dedup_job import follow, start_stream

    # Installed after the session, because Spark's own handler would interrupt a call to the JVM.
    stopped = stopped_by_signals()
    return follow(start_stream(spark, job, is_endless=is_endless), stopped.is_set, print_progress)


def stopped_by_signals() -> threading.Event:
    """Return an event that SIGINT and SIGTERM set from now on."""
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: stopped.set())
    return stopped


def print_progress(counts: DedupCounts) -> None:
    """Print the counts of a stream so far to stderr."""
    click.echo(f"read {counts.records_read}, kept {counts.kept}, dropped {counts.dropped}", err=True)


def print_outcome(counts: DedupCounts, job: DedupJob) -> None:
    """Print the counts of a run, and the partitions that an open transaction kept it from reading to the end."""
    click.echo("\n".join([counts_text(counts, job), *open_transaction_lines(job)]))


def counts_text(counts: DedupCounts, job: DedupJob) -> str:
    """Return the counts of a run as text."""
    kind = "parquet" if job.to_bootstrap is None else f"topic on {job.to_bootstrap}"
    lines = [
        f"read {counts.records_read} records of {job.source['topics']}",
        f"kept {counts.kept}, in {job.to} ({kind})",
        f"dropped {counts.dropped} as further copies",
    ]
    if counts.without_event_id:
        lines.append(f"{counts.without_event_id} without {job.event_id}: all kept, because they have no event id")
    if counts.damaged_batches:
        lines.append(f"{counts.damaged_batches} batches could not be read and were left out")
    return "\n".join(lines)


def open_transaction_lines(job: DedupJob) -> list[str]:
    """Return a line for each partition that is read only up to its earliest open transaction."""
    from ..options import parse_options
    from ..source.log_splits import open_log

    offsets = open_log(parse_options(job.source)).open_transaction_offsets()
    return [
        f"{name.topic_name}-{name.partition} is read up to offset {offset}, where an open transaction begins"
        for name, offset in sorted(offsets.items())
    ]


def causes_text(causes: dict[str, int], job: DedupJob) -> str:
    """Return the copies by cause as text. causes: from copies_by_cause."""
    head = f"further copies of events in {job.source['topics']}: {sum(causes.values())}"
    return "\n".join([head, *(f"  {copies} {cause}" for cause, copies in causes.items())])
