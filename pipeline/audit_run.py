"""One run of the command `audit`: checks, Spark session, findings, progress on stderr, and the verdict.

Spark's log goes to a temporary file, which is kept if Spark fails. Standard output has only the verdict.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, Observation, Row, SparkSession

from ..storage.file_systems.path_problems import find_path_problem
from .bad_option import BadOption
from .checks.audit_job import (
    HAS_UNREADABLE,
    OBSERVED_COLUMNS,
    AuditRequest,
    audit,
    check_request,
    count_request_events,
    default_as_of,
    has_aborts,
    has_transactions,
    newest_ms,
    read_view,
    shuffle_tasks,
)
from .checks.event_audit import COUNTS_SCHEMA
from .cluster.progress import Progress
from .cluster.running_stages import running_stages
from .cluster.spark_log import logged_session
from .cluster.spark_session import start_session
from .cluster.stored_frames import check_new, find_store, write_parquet
from .read.file_store import LocalFiles
from .read.stores import store_of
from .report.audit_summary import TOTALS_COLUMNS, event_totals, finding_groups, topic_totals, with_hints
from .report.html_report import report_page
from .report.report_pictures import BATCH_COLUMNS, Rows, pictures_of
from .report.summary import Summary
from .report.verdict_text import verdict_text

EXIT_CLEAN = 0
EXIT_FINDINGS = 1

# Aggregates over the batches, observed by the query that counts them.
_NEWEST, _HAS_ABORTS, _HAS_TRANSACTIONS = "newest", "has_aborts", "has_transactions"
_OF_NO_BATCHES: dict[str, Any] = {_NEWEST: None, _HAS_ABORTS: False, _HAS_TRANSACTIONS: False}

_SHUFFLE_TASKS_KEY = "spark.sql.shuffle.partitions"


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
    with logged_session("audit", partial(start_session, run.master, settings=run.settings)) as spark:
        if _SHUFFLE_TASKS_KEY not in run.settings:
            tasks = shuffle_tasks(log_to_read.size, spark.sparkContext.defaultParallelism)
            spark.conf.set(_SHUFFLE_TASKS_KEY, str(tasks))
        with Progress(running_stages(spark), stderr):
            summary = _summary(spark, log_to_read.request, run)
    _write_verdict(summary, run)
    return EXIT_CLEAN if summary.is_clean else EXIT_FINDINGS


def _summary(spark: SparkSession, request: AuditRequest, run: AuditRun) -> Summary:
    log = request.options.get("path") or request.options["bootstrap"]
    counted = read_view(spark, request.options, "batches", (*TOTALS_COLUMNS, *OBSERVED_COLUMNS))
    observed = Observation("batches")
    totals = topic_totals(counted.observe(observed, *_observations()))
    # Spark observes nothing where there is no batch, and then waits for it forever.
    seen = observed.get if totals else _OF_NO_BATCHES
    request = replace(request, has_aborts=seen[_HAS_ABORTS], has_transactions=seen[_HAS_TRANSACTIONS])
    if request.as_of_ms is None:
        request = replace(request, as_of_ms=default_as_of(request.options, lambda: seen[_NEWEST]))
    counts: DataFrame | None = None
    if request.event_id is not None:
        unreadable = Observation("records")
        rows = count_request_events(spark, request, unreadable).collect()
        _check_event_id(rows, request, log)
        counts = spark.createDataFrame(rows, COUNTS_SCHEMA)
        request = replace(request, has_unreadable=not rows or unreadable.get[HAS_UNREADABLE])
    # The findings are read several times, and there may be many.
    findings: DataFrame = audit(spark, request, counts).persist(StorageLevel.DISK_ONLY)
    events = () if counts is None else event_totals(counts, findings)
    told = with_hints(findings, events)
    groups = finding_groups(told)
    pictures: dict[str, Rows] = {}
    if run.html is not None:
        pictures = pictures_of(findings, read_view(spark, request.options, "batches", BATCH_COLUMNS))
    if run.parquet is not None:
        _write_findings(told, run.parquet)
    return Summary(log, request.checks, totals, groups, events, pictures)


def _observations() -> tuple[Column, ...]:
    return (
        newest_ms().alias(_NEWEST),
        has_aborts().alias(_HAS_ABORTS),
        has_transactions().alias(_HAS_TRANSACTIONS),
    )


def _check_event_id(counts: list[Row], request: AuditRequest, log: str) -> None:
    """Raise BadOption if the log has records and none of them has the event id."""
    if counts and not any(row["with_id"] for row in counts):
        problem = next((f": {row['problem']}" for row in counts if row["problem"] is not None), "")
        raise BadOption(f"event-id: no record of {log} has {request.event_id}{problem}")


def _write_findings(findings: DataFrame, folder: str) -> None:
    stored = find_store("parquet", folder)
    if stored is None:
        findings.write.parquet(folder)
    else:
        write_parquet("parquet", findings, *stored)


def _check_outputs(run: AuditRun) -> None:
    """Raise BadOption before the audit if an output could not be written after it."""
    if run.parquet is not None:
        stored = find_store("parquet", run.parquet)
        if stored is not None:
            check_new("parquet", *stored, "")
        elif "://" not in run.parquet and os.path.exists(run.parquet):
            raise BadOption(f"parquet: {run.parquet} exists already")
    for name, file in (("json", run.json), ("html", run.html)):
        if file is None or (name == "json" and file == "-"):
            continue
        store, place = store_of(name, file)
        if not isinstance(store, LocalFiles):
            continue
        file = place
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
    store, place = store_of(name, file)
    try:
        store.write(place, content.encode())
    except OSError as error:
        raise BadOption(f"{name}: {find_path_problem(place, error) or f'{place}: {error.strerror}'}") from error
