"""`python -m fauxka.spark_jobs.kafka_job`: typical Spark jobs with the kafka format, to be run under injected faults.

`write` writes numbered events to a topic. `copy` copies a topic to another one as a stream, with --follow until
standard input ends. Each prints its JobOutcome as one line of JSON. Exit code 0 if Spark reports success, 1 if it
reports failure, 2 if the job could not start.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec
from msgspec import Struct

from ..pipeline import cluster
from ..pipeline.bad_option import BadOption
from ..pipeline.cluster.spark_jars import installed_series
from ..pipeline.cluster.spark_settings import parse_assignments
from .task_attempts import Attempt, event_log_settings, read_attempts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

# The header with the event id, which is also the key.
EVENT_HEADER = "event"
EXIT_FAILED = 1
EXIT_USAGE = 2
# The jobs are short, so the JVM's fast compiler alone is quicker than full optimisation.
SETTINGS = {
    "spark.driver.memory": "512m",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.sql.shuffle.partitions": "2",
}
STREAM_SECONDS_MAX = 240
# Spark's text before and after the reason why a stream failed.
_STREAM_FAILED = "terminated with exception: "
_STREAM_STATE = re.compile(r"\s*(?:SQLSTATE: |=== Streaming Query ===)")
# A few sentences.
REASON_CHARACTERS_MAX = 1000


class JobOutcome(Struct, kw_only=True):
    """The result of a job.

    rows: the rows passed to the sink, if Spark reports them. reason: one line; "" if the job succeeded. attempts: the
    failed task attempts.
    """

    status: str
    reason: str = ""
    rows: int | None = None
    seconds: float
    attempts: list[Attempt]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def jobs() -> None:
    """Spark jobs with the kafka format."""


@jobs.command()
@click.option("--bootstrap", required=True, metavar="HOST:PORT")
@click.option("--to", "topic", required=True, metavar="TOPIC")
@click.option("--events", type=click.IntRange(min=1), required=True, help="Number of events: event-0001 and so on.")
@click.option("--value-bytes", type=click.IntRange(min=1), default=100, show_default=True)
@click.option("--tasks", type=click.IntRange(min=1), default=1, show_default=True)
@click.option(
    "--attempts", type=click.IntRange(min=1), default=4, show_default=True, help="Attempts of a task, as on a cluster."
)
@click.option("assignments", "-o", "--option", multiple=True, metavar="KEY=VALUE", help="An option of the format.")
def write(
    bootstrap: str, topic: str, events: int, value_bytes: int, tasks: int, attempts: int, assignments: tuple[str, ...]
) -> None:
    """Write events to a topic."""
    options = {"kafka.bootstrap.servers": bootstrap, "topic": topic, **options_of(assignments)}

    def job(spark: SparkSession) -> int | None:
        numbered_events(spark, events, value_bytes, tasks).write.format("kafka").options(**options).save()
        return events

    run(job, attempts)


@jobs.command()
@click.option("--bootstrap", required=True, metavar="HOST:PORT")
@click.option("--from", "source", required=True, metavar="TOPIC")
@click.option("--to", "topic", required=True, metavar="TOPIC")
@click.option("--checkpoint", required=True, metavar="FOLDER")
@click.option(
    "--attempts", type=click.IntRange(min=1), default=4, show_default=True, help="Attempts of a task, as on a cluster."
)
@click.option("--follow", is_flag=True, help="Go on until standard input ends, and copy the rest then.")
@click.option("assignments", "-o", "--option", multiple=True, metavar="KEY=VALUE", help="An option of the source.")
def copy(
    bootstrap: str, source: str, topic: str, checkpoint: str, attempts: int, follow: bool, assignments: tuple[str, ...]
) -> None:
    """Copy the present content of a topic, as a stream that continues from its checkpoint, and exit."""
    base = {"kafka.bootstrap.servers": bootstrap, "subscribe": source, "startingOffsets": "earliest"}
    options = {**base, "includeHeaders": "true", **options_of(assignments)}

    def job(spark: SparkSession) -> int | None:
        records = spark.readStream.format("kafka").options(**options).load().select("key", "value", "headers")
        sink = {"kafka.bootstrap.servers": bootstrap, "topic": topic, "checkpointLocation": checkpoint}
        stream = records.writeStream.format("kafka").options(**sink)
        query = stream.start() if follow else stream.trigger(availableNow=True).start()
        try:
            _await_end(query, follow=follow)
        finally:
            query.stop()
        return sum(int(progress["numInputRows"]) for progress in query.recentProgress)

    run(job, attempts)


def _await_end(query: StreamingQuery, *, follow: bool) -> None:
    if follow:
        sys.stdin.read()
        query.processAllAvailable()
    elif not query.awaitTermination(STREAM_SECONDS_MAX):
        raise BadOption(f"the stream did not end in {STREAM_SECONDS_MAX} s")


def numbered_events(spark: SparkSession, events: int, value_bytes: int, tasks: int) -> DataFrame:
    """Return rows for the kafka format: one event each, with its id as key and header, all of the same size."""
    from pyspark.sql import functions as f

    name = f.format_string("event-%04d", f.col("id") + 1)
    header = f.struct(f.lit(EVENT_HEADER).alias("key"), name.cast("binary").alias("value"))
    return spark.range(0, events, 1, tasks).select(
        name.cast("binary").alias("key"),
        f.rpad(name, value_bytes, ".").cast("binary").alias("value"),
        f.array(header).alias("headers"),
    )


def run(job: Callable[[SparkSession], int | None], attempts: int) -> None:
    """Run a job in its own session and print its outcome. Exits with 1 or 2 on failure."""
    try:
        outcome = outcome_of(job, attempts)
    except BadOption as error:
        click.echo(f"fauxka: {' '.join(str(error).split())}", err=True)
        sys.exit(EXIT_USAGE)
    click.echo(msgspec.json.encode(outcome).decode())
    if outcome.reason:
        sys.exit(EXIT_FAILED)


def outcome_of(job: Callable[[SparkSession], int | None], attempts: int) -> JobOutcome:
    """Run a job in its own session, with that many attempts for each task. Raises BadOption."""
    installed_series()
    with tempfile.TemporaryDirectory(prefix="fauxka-job-") as name:
        folder = Path(name)
        settings = {**SETTINGS, **event_log_settings(folder)}
        spark = cluster.spark_session.start_session(f"local[1,{attempts}]", with_kafka=True, settings=settings)
        started = time.monotonic()
        rows, reason = None, ""
        try:
            rows = job(spark)
        except cluster.spark_errors.SPARK_ERRORS as error:
            reason = in_one_line(str(error))
        finally:
            seconds = time.monotonic() - started
            spark.stop()
        failed = [attempt for attempt in read_attempts(folder) if attempt.failure]
    status = "failed" if reason else "succeeded"
    return JobOutcome(status=status, reason=reason, rows=rows, seconds=round(seconds, 1), attempts=failed)


def in_one_line(text: str) -> str:
    """Return the reason in an error text of Spark: its first line, or for a stream the text before the query state."""
    stream_failure = text.partition(_STREAM_FAILED)[2]
    reason = _STREAM_STATE.split(stream_failure, maxsplit=1)[0] if stream_failure else text.partition("\n")[0]
    return " ".join(reason.split())[:REASON_CHARACTERS_MAX] or "Spark reports no reason"


def options_of(assignments: tuple[str, ...]) -> dict[str, str]:
    """Parse KEY=VALUE texts. Raises ClickException."""
    try:
        return parse_assignments("option", assignments)
    except BadOption as error:
        raise click.ClickException(str(error)) from error


if __name__ == "__main__":
    jobs()
