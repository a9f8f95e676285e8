"""One run of the command `compare`: checks, Spark session, findings, progress on stderr, and the verdict.

Standard output has only the verdict, as in an audit, and the outputs are those of an audit.
"""

from __future__ import annotations

from typing import TextIO

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from ...client.errors import BrokerError
from ..bad_option import BadOption
from ..checks.audited_range import AuditedRange
from ..checks.task_sizes import SHUFFLE_TASKS_KEY
from ..cluster.progress import Progress
from ..cluster.running_stages import running_stages
from ..read.log_identity import identity_of
from ..read.options import LISTING, parse_options
from ..report.audit_summary import TOPICS_MAX, kinds_by_topic
from ..report.report_pictures import Rows, kinds_over_time
from ..report.shown_commands import source_words
from ..report.summary import ComparedTopic, RunCommands, Summary
from ..report.verdict_run import VerdictRun
from .compare_job import Compared, compare, set_tasks
from .compare_request import CheckedRequest, CompareRequest, check_request
from .deleted_rows import DeletedRows, find_deleted_rows
from .matched import has_arrived
from .sides import LogSide, Side
from .verdicts import CHECK


def run_compare(request: CompareRequest, verdict: VerdictRun, stderr: TextIO) -> int:
    """Compare the sides, print the verdict and write the output files. Return the exit code.

    stderr: gets the progress line. Raises BadOption for invalid input and for any failure of Spark.
    """
    verdict.outputs.check()
    checked = check_request(request)
    log_topics = _log_topics(request.left) if verdict.needs_log_topics else frozenset[str]()
    with verdict.session("compare") as spark, running_stages(spark) as stages, Progress(stages, stderr):
        if SHUFFLE_TASKS_KEY not in verdict.settings:
            set_tasks(spark, checked)
        summary, judged = _summary(spark, verdict, checked, log_topics)
        kinds = () if verdict.outputs.junit is None else kinds_by_topic(judged)
    return verdict.end(summary, kinds)


def _log_topics(left: Side) -> frozenset[str]:
    """Return the ids of the topics of the left log; none if it is a table. Raises BadOption."""
    if not isinstance(left, LogSide):
        return frozenset()
    try:
        return identity_of(parse_options(left.options)).topics
    except BrokerError as error:
        raise BadOption(f"left: {error}") from error


def _summary(
    spark: SparkSession, verdict: VerdictRun, checked: CheckedRequest, log_topics: frozenset[str]
) -> tuple[Summary, DataFrame]:
    """Return the summary, and the findings from which it is made."""
    compared = compare(spark, checked)
    findings = compared.findings.persist(StorageLevel.DISK_ONLY)
    deleted = _deleted_during(checked, compared, findings)
    findings = deleted.without_unjudged(findings)
    verdict.outputs.write_findings(findings)
    audited = AuditedRange({}, {}) if compared.left is None else compared.left.audited
    judged, comparison = verdict.with_baseline(findings, audited, (CHECK,))
    listed = verdict.listed(judged)
    pictures: dict[str, Rows] = {} if verdict.outputs.html is None else {"kinds": kinds_over_time(judged)}
    topics = _topics(compared.matched)
    notes = () if verdict.baseline is None else tuple(verdict.baseline.notes(log_topics))
    request = checked.request
    left = request.left if isinstance(request.left, LogSide) else None
    return Summary(
        log=request.left.place,
        other=request.right.place,
        id_word="event" if request.matching.by == "event-id" else "key",
        checks=(request.words,),
        topics=(),
        compared=topics,
        groups=listed.groups,
        pictures=pictures,
        notes=(*checked.pairs.notes, *_range_notes(checked, compared), *_doubts(topics), *deleted.notes, *notes),
        fail_on=verdict.fail_on,
        baseline=comparison,
        findings=listed.findings,
        findings_left_off=listed.left_off,
        log_topics=tuple(sorted(log_topics)),
        check_names=(CHECK,),
        deleted=deleted.files,
        commands=RunCommands(() if left is None else source_words(left.options), again=verdict.again),
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
