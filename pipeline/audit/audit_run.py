"""One run of the command `audit`: checks, Spark session, findings, progress on stderr, and the verdict.

Spark's log goes to a temporary file, which is kept if Spark fails. Standard output has only the verdict.
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

from ...storage.file_systems.path_problems import find_path_problem
from ..audit_job import (
    OBSERVED_COLUMNS,
    AuditRequest,
    CheckedRequest,
    audit,
    check_request,
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
from ..spark.spark_errors import SPARK_ERRORS, failure_reason
from ..spark.spark_session import start_session
from .audit_summary import TOTALS_COLUMNS, finding_groups, topic_totals
from .summary import Summary

EXIT_CLEAN = 0
EXIT_FINDINGS = 1

# The kind of the event audit for records without an event id.
NO_EVENT_ID = "no_event_id"

# Aggregates over the batches, observed by the query that counts them.
_NEWEST, _HAS_ABORTS = "newest", "has_aborts"

_SHUFFLE_TASKS_KEY = "spark.sql.shuffle.partitions"

_HEAP_IS_FULL = "java.lang.OutOfMemoryError"
_HEAP_ADVICE = "Spark ran out of memory; set -c spark.driver.memory=2g, or spark.executor.memory on a cluster"


@dataclass(frozen=True, slots=True)
class AuditRun:
    """The parsed arguments of the command.

    settings: Spark configuration keys. json: a file, or - for standard output. parquet: a new folder for all findings.
    html: the file of the page.
    """

    request: AuditRequest
    master: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    json: str | None = None
    parquet: str | None = None
    html: str | None = None


def run_audit(run: AuditRun, stderr: TextIO) -> int:
    """Run the audit, print the verdict and write the output files. Return the exit code.

    stderr: gets the progress line. Raises BadOption for invalid input and for any failure of Spark.
    """
    _check_outputs(run)
    log_to_read = check_request(run.request)
    # Without delete=True, because the file is kept if Spark fails.
    with tempfile.NamedTemporaryFile(prefix="fauxka-audit-", suffix=".log", delete=False) as log:
        try:
            with _logging_into(log.name):
                summary = _summary_by_spark(run, log_to_read, (log.file, stderr))
        except SPARK_ERRORS as error:
            is_heap_full = _HEAP_IS_FULL in Path(log.name).read_text(errors="replace")
            reason = _HEAP_ADVICE if is_heap_full else failure_reason(error)
            raise BadOption(f"{reason} (Spark's log: {log.name})") from error
        except BaseException:
            os.unlink(log.name)
            raise
    os.unlink(log.name)
    _write_verdict(summary, run)
    return EXIT_CLEAN if summary.is_clean else EXIT_FINDINGS


def _summary_by_spark(run: AuditRun, log_to_read: CheckedRequest, streams: tuple[IO[bytes], TextIO]) -> Summary:
    log, stderr = streams
    with _standard_error_in(log):
        spark = start_session(run.master, settings=run.settings)
    try:
        if _SHUFFLE_TASKS_KEY not in run.settings:
            tasks = shuffle_tasks(log_to_read.size, spark.sparkContext.defaultParallelism)
            spark.conf.set(_SHUFFLE_TASKS_KEY, str(tasks))
        with Progress(running_stages(spark), stderr):
            return _summary(spark, log_to_read.request, run)
    finally:
        spark.stop()


def _summary(spark: SparkSession, request: AuditRequest, run: AuditRun) -> Summary:
    log = request.options.get("path") or request.options["bootstrap"]
    observed = Observation("batches")
    counted = read_view(spark, request.options, "batches", (*TOTALS_COLUMNS, *OBSERVED_COLUMNS))
    totals = topic_totals(counted.observe(observed, newest_ms().alias(_NEWEST), has_aborts().alias(_HAS_ABORTS)))
    request = replace(request, has_aborts=observed.get[_HAS_ABORTS])
    if request.as_of_ms is None:
        request = replace(request, as_of_ms=default_as_of(request.options, lambda: observed.get[_NEWEST]))
    # The findings are read several times, and there may be many.
    findings: DataFrame = audit(spark, request).persist(StorageLevel.DISK_ONLY)
    groups = finding_groups(findings)
    if any(group.kind == NO_EVENT_ID for group in groups) and not has_event_ids(spark, request):
        raise BadOption(f"event-id: no record of {log} has {request.event_id}")
    pictures: dict[str, Rows] = {}
    if run.html is not None:
        pictures = pictures_of(findings, read_view(spark, request.options, "batches", BATCH_COLUMNS))
    if run.parquet is not None:
        findings.write.parquet(run.parquet)
    return Summary(log, request.checks, totals, groups, pictures)


def _check_outputs(run: AuditRun) -> None:
    """Raise BadOption before the audit if an output could not be written after it."""
    if run.parquet is not None and "://" not in run.parquet and os.path.exists(run.parquet):
        raise BadOption(f"parquet: {run.parquet} exists already")
    for name, file in (("json", run.json), ("html", run.html)):
        if file is None or (name == "json" and file == "-"):
            continue
        folder = Path(file).absolute().parent
        if not folder.is_dir() or not os.access(folder, os.W_OK) or Path(file).is_dir():
            raise BadOption(f"{name}: {file} cannot be written")


def _write_verdict(summary: Summary, run: AuditRun) -> None:
    content = json.dumps(summary.as_json(), indent=2)
    if run.html is not None:
        _write("html", run.html, report_page(json.loads(content)))
    if run.json == "-":
        print(content)
        return
    if run.json is not None:
        _write("json", run.json, content + "\n")
    print(verdict_text(summary))


def _write(name: str, file: str, content: str) -> None:
    try:
        Path(file).write_text(content, encoding="utf-8")
    except OSError as error:
        raise BadOption(f"{name}: {find_path_problem(file, error) or f'{file}: {error.strerror}'}") from error


@contextmanager
def _logging_into(file: str) -> Generator[None, None, None]:
    """Write log records to a file within the block; py4j logs the traceback of every error that it raises."""
    handler = logging.FileHandler(file)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()


@contextmanager
def _standard_error_in(log: IO[bytes]) -> Generator[None, None, None]:
    """Redirect file descriptor 2 to a file within the block; programs started in it inherit the file."""
    sys.stderr.flush()
    kept = os.dup(2)
    os.dup2(log.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
