"""One run of the command `compare`: checks, Spark session, findings, progress on stderr, and the verdict.

Standard output has only the verdict, as in an audit, and the outputs are those of an audit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TextIO

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from ...client.errors import BrokerError
from ..bad_option import BadOption
from ..checks.audit_job import SHUFFLE_TASKS_KEY
from ..checks.audited_range import AuditedRange
from ..checks.baseline import Baseline, count_gone, with_known
from ..checks.finding_kinds import FAULTS
from ..cluster.progress import Progress
from ..cluster.running_stages import running_stages
from ..cluster.spark_log import logged_session
from ..cluster.spark_session import start_session
from ..read.log_identity import identity_of
from ..read.options import LISTING, parse_options
from ..report.audit_outputs import AuditOutputs
from ..report.audit_summary import TOPICS_MAX, finding_groups, identities, kinds_by_topic
from ..report.report_pictures import Rows, kinds_over_time
from ..report.shown_commands import source_words
from ..report.summary import ComparedTopic, Comparison, RunCommands, Summary
from .compare_job import Compared, compare, set_tasks
from .compare_request import CheckedRequest, CompareRequest, check_request
from .deleted_rows import DeletedRows, find_deleted_rows
from .matched import has_arrived
from .sides import LogSide
from .verdicts import CHECK

EXIT_CLEAN = 0
EXIT_FINDINGS = 1


@dataclass(frozen=True, slots=True)
class CompareRun:
    """The parsed arguments of the command.

    settings: Spark configuration keys. fail_on: the kinds of --fail-on. again: from repeated_words.
    """

    request: CompareRequest
    master: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    outputs: AuditOutputs = field(default_factory=AuditOutputs)
    fail_on: tuple[str, ...] | None = None
    baseline: Baseline | None = None
    again: tuple[str, ...] = ()


def run_compare(run: CompareRun, stderr: TextIO) -> int:
    """Compare the sides, print the verdict and write the output files. Return the exit code.

    stderr: gets the progress line. Raises BadOption for invalid input and for any failure of Spark.
    """
    run.outputs.check()
    checked = check_request(run.request)
    log_topics = _log_topics(run)
    start = partial(start_session, run.master, settings=run.settings)
    with logged_session("compare", start) as spark, running_stages(spark) as stages, Progress(stages, stderr):
        if SHUFFLE_TASKS_KEY not in run.settings:
            set_tasks(spark, checked)
        summary, judged = _summary(spark, run, checked, log_topics)
        kinds = () if run.outputs.junit is None else kinds_by_topic(judged)
    run.outputs.write(summary, kinds)
    return EXIT_FINDINGS if summary.is_failed else EXIT_CLEAN


def _log_topics(run: CompareRun) -> frozenset[str]:
    """Return the ids of the topics of the left log if the verdict needs them. Raises BadOption."""
    left = run.request.left
    if not isinstance(left, LogSide) or (run.baseline is None and run.outputs.json is None):
        return frozenset()
    try:
        return identity_of(parse_options(left.options)).topics
    except BrokerError as error:
        raise BadOption(f"left: {error}") from error


def _summary(
    spark: SparkSession, run: CompareRun, checked: CheckedRequest, log_topics: frozenset[str]
) -> tuple[Summary, DataFrame]:
    """Return the summary, and the findings from which it is made."""
    compared = compare(spark, checked)
    findings = compared.findings.persist(StorageLevel.DISK_ONLY)
    deleted = _deleted_during(checked, compared, findings)
    findings = deleted.without_unjudged(findings)
    run.outputs.write_findings(findings)
    judged, comparison = _with_baseline(spark, run, compared, findings)
    groups = finding_groups(judged)
    listed = FAULTS | frozenset(run.fail_on or ())
    found = [] if run.outputs.json is None else identities(judged, listed)
    pictures: dict[str, Rows] = {} if run.outputs.html is None else {"kinds": kinds_over_time(judged)}
    topics = _topics(compared.matched)
    notes = () if run.baseline is None else tuple(run.baseline.notes(log_topics))
    left = run.request.left if isinstance(run.request.left, LogSide) else None
    left_off = sum(group.findings for group in groups if group.kind in listed) - len(found)
    return Summary(
        log=run.request.left.place,
        other=run.request.right.place,
        id_word="event" if run.request.matching.by == "event-id" else "key",
        checks=(run.request.words,),
        topics=(),
        compared=topics,
        groups=groups,
        pictures=pictures,
        notes=(*checked.pairs.notes, *_range_notes(checked, compared), *_doubts(topics), *deleted.notes, *notes),
        fail_on=run.fail_on,
        baseline=comparison,
        findings=found,
        findings_left_off=max(left_off, 0) if run.outputs.json is not None else 0,
        log_topics=tuple(sorted(log_topics)),
        check_names=(CHECK,),
        deleted=deleted.files,
        commands=RunCommands(() if left is None else source_words(left.options), again=run.again),
    ), judged


def _deleted_during(checked: CheckedRequest, compared: Compared, findings: DataFrame) -> DeletedRows:
    """Compute the findings, and return the files that were deleted until then. findings: persisted."""
    logs = [one for one in (compared.left, compared.right) if one is not None]
    if not any(LISTING in one.options for one in logs):
        return DeletedRows()
    findings.count()
    left = find_deleted_rows("left", compared.left, str)
    return left.plus(find_deleted_rows("right", compared.right, checked.pairs.topic_map.left_of))


def _topics(matched: DataFrame) -> tuple[ComparedTopic, ...]:
    """Return the totals of the first topics. matched: from match_entries."""
    counted = matched.groupBy("topic").agg(
        f.sum("lefts").alias("left"), f.sum("rights").alias("right"), f.count_if(has_arrived()).alias("arrived")
    )
    names = ("topic", "left", "right", "arrived")
    rows = counted.orderBy("topic").limit(TOPICS_MAX).collect()
    return tuple(ComparedTopic(*(row[name] for name in names)) for row in rows)


def _with_baseline(
    spark: SparkSession, run: CompareRun, compared: Compared, findings: DataFrame
) -> tuple[DataFrame, Comparison | None]:
    if run.baseline is None:
        return findings, None
    known = run.baseline.frame(spark)
    audited = AuditedRange({}, {}) if compared.left is None else compared.left.audited
    gone = count_gone(findings, known, audited, frozenset({CHECK}))
    judged = with_known(findings, known).persist(StorageLevel.DISK_ONLY)
    return judged, Comparison(run.baseline.place, gone)


def _range_notes(checked: CheckedRequest, compared: Compared) -> list[str]:
    """Return a note for deleted offsets of the range, and one if its times do not bound positions on both sides."""
    notes = [] if compared.left is None else list(compared.left.audited.notes())
    if checked.request.matching.by != "position" or not checked.range.is_set:
        return notes
    is_other = has_arrived() & (f.col("left.timestamp") != f.col("right.timestamp"))
    if compared.matched.where(is_other).limit(1).count():
        notes.append(
            "the times of records differ between the sides, so those next to the start of the range may be findings"
        )
    return notes


def _doubts(topics: tuple[ComparedTopic, ...]) -> list[str]:
    """Return a note for each topic of which no record matches, though both sides have some."""
    return [
        f"no record of {topic.topic} is on both sides: do both sides identify a record in the same way?"
        for topic in topics
        if topic.left and topic.right and not topic.arrived
    ]
