"""One run of the command `audit`: checks, Spark session, findings, progress on stderr, and the verdict.

Spark's log goes to a temporary file, which is kept if Spark fails. Standard output has only the verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TextIO

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, Observation, Row, SparkSession

from ..client.errors import BrokerError
from .bad_option import BadOption
from .checks.audit_job import (
    AuditRequest,
    CheckedRequest,
    audit,
    check_request,
    default_as_of,
    topic_lateness,
)
from .checks.audited_range import AuditedRange, by_topic, range_words
from .checks.deleted_files import deletion_note, find_deleted_files, without_unjudged
from .checks.event_audit import COUNTS_SCHEMA
from .checks.identified_records import count_identified
from .checks.log_order import BATCH_COLUMNS_READ
from .checks.log_views import read_view
from .checks.observed_batches import OBSERVED_COLUMNS, has_aborts, has_old_format, has_transactions, newest_ms
from .checks.screened_events import CountedEvents, ScreenedEvents, screen_events
from .checks.store_waits import wait_columns, wait_sums, waits_in
from .checks.task_sizes import SHUFFLE_TASKS_KEY, shuffle_tasks
from .checks.unreadable_records import has_unreadable
from .cluster.progress import Progress
from .cluster.running_stages import running_stages
from .read.log_identity import identity_of
from .read.options import parse_options
from .read.store_attempts import Waits, waits_of_process
from .read.stored_listing import DeletedFiles, with_listing
from .report.audit_summary import (
    TOTALS_COLUMNS,
    event_totals,
    kinds_by_topic,
    lateness_totals,
    topic_totals,
    with_hints,
)
from .report.report_pictures import BATCH_COLUMNS, Rows, pictures_of
from .report.shown_commands import source_words
from .report.summary import (
    AuditedOffsets,
    Comparison,
    EventTotals,
    RunCommands,
    Summary,
    TopicKind,
    TopicLateness,
    TopicTotals,
)
from .report.verdict_run import VerdictRun
from .sessions.session_kind import kind_of

# Aggregates over the batches, observed by the query that counts them.
_NEWEST, _HAS_ABORTS, _HAS_TRANSACTIONS, _HAS_OLD = "newest", "has_aborts", "has_transactions", "has_old_format"
_OF_NO_BATCHES: dict[str, Any] = {_NEWEST: None, _HAS_ABORTS: False, _HAS_TRANSACTIONS: False, _HAS_OLD: False}

# The name of the command in that of Spark's log.
SESSION = "audit"

# Another one over the records.
_HAS_UNREADABLE = "has_unreadable"


@dataclass(frozen=True, slots=True)
class AuditRun:
    """The parsed arguments of the command.

    notes: lines for the verdict. is_part: whether the log is a part of the given one, and may lack the event id by
    chance.
    """

    request: AuditRequest
    verdict: VerdictRun = field(default_factory=VerdictRun)
    notes: tuple[str, ...] = ()
    is_part: bool = False


@dataclass(frozen=True, slots=True)
class _Audited:
    """The findings of a run. judged: with is_known if there is a baseline. counts: of the events.

    waits: for an object store, as far as they were counted. deleted: the files that were deleted meanwhile. notes: of
    what could not be found out.
    """

    request: AuditRequest
    range: AuditedRange
    totals: tuple[TopicTotals, ...]
    events: tuple[EventTotals, ...]
    judged: DataFrame
    comparison: Comparison | None
    waits: Waits
    deleted: tuple[DeletedFiles, ...]
    notes: tuple[str, ...]
    lateness: tuple[TopicLateness, ...]


def run_audit(run: AuditRun, stderr: TextIO) -> int:
    """Run the audit, print the verdict and write the output files. Return the exit code.

    stderr: gets the progress line. Raises BadOption for invalid input and for any failure of Spark.
    """
    run.verdict.outputs.check()
    run = replace(run, request=replace(run.request, options=with_listing(run.request.options)))
    log_to_read = check_request(run.request)
    topics = log_topics(run)
    with run.verdict.session(SESSION, log_to_read.row_count) as spark:
        summary, kinds = audited_summary(spark, run, log_to_read, topics, stderr)
    return run.verdict.end(summary, kinds)


def audited_summary(
    spark: SparkSession, run: AuditRun, log_to_read: CheckedRequest, topics: frozenset[str], stderr: TextIO
) -> tuple[Summary, tuple[TopicKind, ...]]:
    """Return the verdict of a run, and its kinds by topic if it writes JUnit XML. topics: from log_topics."""
    if SHUFFLE_TASKS_KEY not in run.verdict.settings:
        tasks = shuffle_tasks(log_to_read.size, kind_of(spark).task_count())
        spark.conf.set(SHUFFLE_TASKS_KEY, str(tasks))
    with running_stages(spark) as stages, Progress(stages, stderr):
        audited = _audited(spark, log_to_read.request, run)
        summary = _summary(audited, run, topics)
        return summary, () if run.verdict.outputs.junit is None else kinds_by_topic(audited.judged)


def log_topics(run: AuditRun) -> frozenset[str]:
    """Return the ids of the log's topics if the verdict needs them. Raises BadOption."""
    if not run.verdict.needs_log_topics:
        return frozenset()
    try:
        return identity_of(parse_options(run.request.options)).topics
    except BrokerError as error:
        raise BadOption(str(error)) from error


def _audited(spark: SparkSession, request: AuditRequest, run: AuditRun) -> _Audited:
    audited = request.audited
    assert audited is not None, "check_request returns the range"
    read = (*TOTALS_COLUMNS, *OBSERVED_COLUMNS, *wait_columns(request.options))
    batches = read_view(spark, request.options, "batches", read)
    observed = Observation("batches")
    totals = topic_totals(batches.observe(observed, *_observations(), *wait_sums(request.options)))
    # Spark observes nothing where there is no batch, and then waits for it forever.
    seen = observed.get if totals else _OF_NO_BATCHES
    waits = waits_in(seen)
    names = (_HAS_ABORTS, _HAS_TRANSACTIONS, _HAS_OLD)
    request = replace(request, **{name: seen[name] for name in names})
    if request.as_of_ms is None:
        is_end_cut = bool(audited.cut_ends)
        as_of_ms = default_as_of(request.options, lambda: seen[_NEWEST], is_end_cut=is_end_cut)
        request = replace(request, as_of_ms=as_of_ms)
    of_records = _read_records(spark, request)
    request = replace(request, has_unreadable=of_records.has_unreadable)
    waits = waits.plus(of_records.waits)
    counted: CountedEvents | None = None
    if of_records.counts is not None:
        if not run.is_part:
            _check_event_id(of_records.counts, request)
        counted = CountedEvents(spark.createDataFrame(of_records.counts, COUNTS_SCHEMA), of_records.screened)
    # The findings are read several times, and there may be many.
    findings: DataFrame = audit(spark, request, of_records.records, counted).persist(StorageLevel.DISK_ONLY)
    deleted, notes = _deleted_during(request, findings)
    findings = without_unjudged(findings, deleted) if deleted else findings
    waits = waits.plus(waits_of_process())
    events = () if counted is None else event_totals(counted.counts, findings)
    reported = with_hints(findings, events)
    run.verdict.outputs.write_findings(reported)
    lateness = lateness_totals(topic_lateness(spark, request, of_records.records))
    judged, comparison = run.verdict.with_baseline(reported, audited, request.check_names)
    return _Audited(request, audited, totals, events, judged, comparison, waits, deleted, notes, lateness)


@dataclass(frozen=True, slots=True)
class _ReadRecords:
    """What one pass over the records found. records: for the further checks. counts: rows of COUNTS_SCHEMA."""

    records: DataFrame
    has_unreadable: bool = False
    waits: Waits = field(default_factory=Waits)
    counts: Sequence[Row] | None = None
    screened: ScreenedEvents | None = None


def _read_records(spark: SparkSession, request: AuditRequest) -> _ReadRecords:
    """Read the records of a request once, or not at all if no check needs them."""
    records = request.records(spark)
    if not request.reads_records:
        return _ReadRecords(records)
    if request.hashed_id is not None and not request.has_aborts:
        tasks = int(spark.conf.get(SHUFFLE_TASKS_KEY) or 1)
        screened = screen_events(spark, request.options, request.hashed_id, tasks)
        return _ReadRecords(records, screened.has_unreadable, screened.waits, screened.counts, screened)
    # Decoded once, and read by each check.
    records = records.persist(StorageLevel.DISK_ONLY)
    found = records.agg(has_unreadable().alias(_HAS_UNREADABLE), *wait_sums(request.options)).collect()[0]
    counts: Sequence[Row] | None = None
    if request.event_id is not None:
        aborting = read_view(spark, request.options, "batches", BATCH_COLUMNS_READ) if request.has_aborts else None
        counts = count_identified(records, aborting).collect()
    return _ReadRecords(records, found[_HAS_UNREADABLE], waits_in(found.asDict()), counts)


def _deleted_during(request: AuditRequest, findings: DataFrame) -> tuple[tuple[DeletedFiles, ...], tuple[str, ...]]:
    """Compute the findings, and return the files that were deleted until then, and notes. findings: persisted."""
    if parse_options(request.options).listing is None:
        return (), ()
    findings.count()
    try:
        return tuple(find_deleted_files(request)), ()
    except BadOption as error:
        return (), (f"unknown whether files were deleted during this audit: {error}",)


def _summary(audited: _Audited, run: AuditRun, log_topics: frozenset[str]) -> Summary:
    request, judged, verdict = audited.request, audited.judged, run.verdict
    listed = verdict.listed(judged)
    pictures: dict[str, Rows] = {}
    if verdict.outputs.html is not None:
        batches = read_view(judged.sparkSession, request.options, "batches", BATCH_COLUMNS)
        pictures = pictures_of(judged, batches)
    words = range_words(parse_options(run.request.options))
    baseline_notes = () if verdict.baseline is None else verdict.baseline.notes(log_topics)
    return Summary(
        log=_place(request),
        checks=request.checks,
        topics=audited.totals,
        groups=listed.groups,
        events=audited.events,
        pictures=pictures,
        range=AuditedOffsets(words, by_topic(audited.range.starts), by_topic(audited.range.ends)),
        notes=(*run.notes, *baseline_notes, *audited.range.notes(), *_store_notes(audited)),
        fail_on=verdict.fail_on,
        baseline=audited.comparison,
        findings=listed.findings,
        findings_left_off=listed.left_off,
        log_topics=tuple(sorted(log_topics)),
        check_names=request.check_names,
        repeated_requests=audited.waits.count,
        waited_seconds=round(audited.waits.seconds, 1),
        deleted=audited.deleted,
        lateness=audited.lateness,
        commands=RunCommands(
            log=source_words(run.request.options),
            replicas=[source_words({"path": place}) for place in run.request.replicas],
            again=verdict.again,
        ),
    )


def _store_notes(audited: _Audited) -> Iterator[str]:
    """Yield lines about the files of the log: waits for their store, and what was deleted."""
    waits = audited.waits
    if waits.count:
        yield f"{waits.count:,} requests to the store were sent again, after {waits.seconds:.1f} s in all"
    for one in audited.deleted:
        yield deletion_note(one)
    yield from audited.notes


def _place(request: AuditRequest) -> str:
    return request.options.get("path") or request.options["bootstrap"]


def _observations() -> tuple[Column, ...]:
    return (
        newest_ms().alias(_NEWEST),
        has_aborts().alias(_HAS_ABORTS),
        has_transactions().alias(_HAS_TRANSACTIONS),
        has_old_format().alias(_HAS_OLD),
    )


def _check_event_id(counts: Sequence[Row], request: AuditRequest) -> None:
    """Raise BadOption if the log has records and none of them has the event id."""
    is_cut = request.audited is not None and request.audited.is_cut
    # A part of the log can have no event by chance.
    if counts and not is_cut and not any(row["with_id"] for row in counts):
        problem = next((f": {row['problem']}" for row in counts if row["problem"] is not None), "")
        raise BadOption(f"event-id: no record of {_place(request)} has {request.event_id}{problem}")
