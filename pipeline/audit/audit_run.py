"""An audit from start to end, with what is told on the terminal and what is written.

Spark's own log goes into a file while it runs, which is kept where the audit fails; the terminal is the verdict's.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TextIO

from pyspark import StorageLevel
from pyspark.sql import DataFrame, Observation, SparkSession

from ..audit_job import (
    LOOKED_AT_COLUMNS,
    AuditRequest,
    CheckedRequest,
    audit,
    checked,
    default_as_of,
    has_aborts,
    has_event_ids,
    newest_ms,
    read_view,
    shuffle_tasks,
)
from ..bad_option import BadOption
from ..report.html_report import report_page
from ..report.report_pictures import BATCH_COLUMNS, Rows, pictures_of
from ..report.verdict_text import verdict_text
from ..spark.progress import Progress
from ..spark.running_stages import running_stages
from ..spark.spark_errors import SPARK_ERRORS, words_of
from ..spark.spark_session import start_session
from .audit_summary import TOTALS_COLUMNS, finding_groups, topic_totals
from .summary import Summary

EXIT_CLEAN = 0
EXIT_FINDINGS = 1

# What the event audit finds of records without an event id.
NO_EVENT_ID = "no_event_id"

# What is observed of the batches while they are counted.
_NEWEST, _HAS_ABORTS = "newest", "has_aborts"

_SHUFFLE_TASKS_KEY = "spark.sql.shuffle.partitions"

_HEAP_IS_FULL = "java.lang.OutOfMemoryError"


@dataclass(frozen=True, slots=True)
class AuditOrder:
    """What to audit, by which Spark, and where the verdict goes beside the terminal.

    settings: Spark's keys. json: a file, or - for standard output. parquet: a new folder for all findings. html: a
    file for the page.
    """

    request: AuditRequest
    master: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    json: str | None = None
    parquet: str | None = None
    html: str | None = None


def run_audit(order: AuditOrder, stderr: TextIO) -> int:
    """Audit, tell and write; return the exit code. Raises BadOption in one line, whatever failed.

    stderr: for the progress; the verdict goes to standard output.
    """
    _check_outputs(order)
    log_to_read = checked(order.request)
    # Not deleted by itself: it is kept where Spark failed.
    with tempfile.NamedTemporaryFile(prefix="fauxka-audit-", suffix=".log", delete=False) as log:
        try:
            with _logging_into(log.name):
                summary = _summary_by_spark(order, log_to_read, (log.file, stderr))
        except SPARK_ERRORS as error:
            raise BadOption(f"{_words_of(error, Path(log.name))} (Spark's log: {log.name})") from error
        except BaseException:
            os.unlink(log.name)
            raise
    os.unlink(log.name)
    _tell(summary, order)
    return EXIT_CLEAN if summary.is_clean else EXIT_FINDINGS


def _summary_by_spark(order: AuditOrder, log_to_read: CheckedRequest, streams: tuple[IO[bytes], TextIO]) -> Summary:
    log, stderr = streams
    with _standard_error_in(log):
        spark = start_session(order.master, settings=order.settings)
    try:
        if _SHUFFLE_TASKS_KEY not in order.settings:
            tasks = shuffle_tasks(log_to_read.size, spark.sparkContext.defaultParallelism)
            spark.conf.set(_SHUFFLE_TASKS_KEY, str(tasks))
        with Progress(running_stages(spark), stderr):
            return _summary(spark, log_to_read.request, order)
    finally:
        spark.stop()


def _summary(spark: SparkSession, request: AuditRequest, order: AuditOrder) -> Summary:
    log = request.options.get("path") or request.options["bootstrap"]
    observed = Observation("batches")
    counted = read_view(spark, request.options, "batches", (*TOTALS_COLUMNS, *LOOKED_AT_COLUMNS))
    totals = topic_totals(counted.observe(observed, newest_ms().alias(_NEWEST), has_aborts().alias(_HAS_ABORTS)))
    request = replace(request, has_aborts=observed.get[_HAS_ABORTS])
    if request.as_of_ms is None:
        request = replace(request, as_of_ms=default_as_of(request.options, lambda: observed.get[_NEWEST]))
    # Read several times, and as large as what was found.
    findings: DataFrame = audit(spark, request).persist(StorageLevel.DISK_ONLY)
    groups = finding_groups(findings)
    if any(group.kind == NO_EVENT_ID for group in groups) and not has_event_ids(spark, request):
        raise BadOption(f"event-id: no record of {log} has {request.event_id}")
    pictures: dict[str, Rows] = {}
    if order.html is not None:
        pictures = pictures_of(findings, read_view(spark, request.options, "batches", BATCH_COLUMNS))
    if order.parquet is not None:
        findings.write.parquet(order.parquet)
    return Summary(log, request.checks, totals, groups, pictures)


def _check_outputs(order: AuditOrder) -> None:
    """Raise BadOption for what could not be written after an hour of work."""
    if order.parquet is not None and "://" not in order.parquet and os.path.exists(order.parquet):
        raise BadOption(f"parquet: {order.parquet} is there already")
    for name, file in (("json", order.json), ("html", order.html)):
        if file is None or (name == "json" and file == "-"):
            continue
        folder = Path(file).absolute().parent
        if not folder.is_dir() or not os.access(folder, os.W_OK) or Path(file).is_dir():
            raise BadOption(f"{name}: {file} cannot be written")


def _tell(summary: Summary, order: AuditOrder) -> None:
    content = json.dumps(summary.as_json(), indent=2)
    if order.html is not None:
        _write("html", order.html, report_page(json.loads(content)))
    if order.json == "-":
        print(content)
        return
    if order.json is not None:
        _write("json", order.json, content + "\n")
    print(verdict_text(summary))


def _write(name: str, file: str, content: str) -> None:
    try:
        Path(file).write_text(content, encoding="utf-8")
    except OSError as error:
        raise BadOption(f"{name}: {file}: {error.strerror}") from error


def _words_of(error: Exception, log: Path) -> str:
    """Return why a job failed in one line; log: what Spark wrote on standard error, which tells of a full heap."""
    if _HEAP_IS_FULL in log.read_text(errors="replace"):
        return "Spark ran out of memory; -c spark.driver.memory=2g gives it more, spark.executor.memory on a cluster"
    return words_of(error)


@contextmanager
def _logging_into(file: str) -> Generator[None, None, None]:
    """Have written into a file what is logged, such as py4j's tracebacks of what it raises as well."""
    handler = logging.FileHandler(file)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()


@contextmanager
def _standard_error_in(log: IO[bytes]) -> Generator[None, None, None]:
    """Let programs that are started in the block write their errors into a file, as long as they run."""
    sys.stderr.flush()
    kept = os.dup(2)
    os.dup2(log.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
