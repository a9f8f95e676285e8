"""Runs a scenario with Spark: on a broker in this process, with the jobs, the audit and the dedup in theirs."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from ...storage.producers.emulated_version import EmulatedVersion
from ..clients.client import ClientUnavailable
from ..clients.clients import NamedClient
from ..engine import Report
from ..report.batch_names import BatchNames
from ..report.notes import Note
from ..report.seen_requests import SeenRequest
from ..report.stored_log import read_log
from ..report.timeline import Moment, build_timeline
from ..scenario import RAW, is_within
from ..stages.in_process_stage import InProcessStage
from .job_checks import JobSeen, check_jobs
from .job_performer import JobCast, JobPerformer
from .job_process import AuditVerdict, JobOutcome
from .job_scenario import JobScenario

SPARK = "Spark"


class StoredTopic(Struct, kw_only=True):
    """What a topic holds in the end. copies: of how many events there are so many."""

    topic: str
    rows: int
    events: int
    copies: dict[int, int]


class JobReport(Report, kw_only=True):
    """What came of a scenario with Spark: beside what others have, what Spark, the audit and the dedup say."""

    jobs: dict[str, JobOutcome]
    stored: list[StoredTopic]
    audits: dict[str, AuditVerdict]
    dedups: dict[str, list[str]]


def run_with_spark(scenario: JobScenario, client: NamedClient, as_version: str | None = None) -> JobReport:
    """Run a scenario on a broker of its own. client: who sends what the application sends.

    Raises ClientUnavailable where there is no Spark or the scenario says nothing about the version or the client,
    ClientStuck or StageFailed where it did not come to an end, and ValueError for a version whose rules are not known.
    """
    version = EmulatedVersion.parse(as_version) if as_version else EmulatedVersion.latest()
    if not is_within(scenario.versions, version.name):
        raise ClientUnavailable(f"{scenario.name} is about Kafka {scenario.versions}, not {version.name}")
    if not scenario.has_application and client.name != RAW:
        raise ClientUnavailable(f"{scenario.name} is about Spark, whose client is its own, not {client.name}")
    stage = InProcessStage(version.name)
    try:
        with tempfile.TemporaryDirectory(prefix="fauxka-scenario-") as folder:
            performer = JobPerformer(JobCast(scenario, client, stage, Path(folder)))
            try:
                performer.perform()
            finally:
                performer.close()
        return _report(scenario, client, stage, performer, version)
    finally:
        stage.close()


def _report(
    scenario: JobScenario,
    client: NamedClient,
    stage: InProcessStage,
    performer: JobPerformer,
    version: EmulatedVersion,
) -> JobReport:
    stored = {name: _counted(stage, name, partitions) for name, partitions in scenario.topics.items()}
    checks = check_jobs(scenario.expect, JobSeen(performer.came, stored))
    timeline = [moment for topic in scenario.topics for moment in _timeline(scenario, stage, performer, topic, version)]
    return JobReport(
        scenario=scenario.name,
        title=scenario.title,
        story=scenario.story.strip(),
        client=f"{client.name} and {SPARK}" if scenario.has_application else SPARK,
        as_version=version.name,
        passed=all(each.passed for each in checks),
        checks=checks,
        verdict={},
        timeline=timeline,
        jobs=performer.came.jobs,
        stored=[_stored(topic, events) for topic, events in stored.items()],
        audits=performer.came.audits,
        dedups=performer.came.dedups,
    )


def _counted(stage: InProcessStage, topic: str, partitions: int) -> Counter[str]:
    return Counter(event for batch in read_log(stage.bootstrap_servers, topic, partitions) for event in batch.events)


def _stored(topic: str, events: Counter[str]) -> StoredTopic:
    copies = Counter(events.values())
    return StoredTopic(topic=topic, rows=events.total(), events=len(events), copies=dict(sorted(copies.items())))


def _timeline(
    scenario: JobScenario, stage: InProcessStage, performer: JobPerformer, topic: str, version: EmulatedVersion
) -> list[Moment]:
    """Return what happened to one topic; producers and offsets are told apart in a topic only."""
    requests = [request for request in stage.journal() if _is_about(request, topic)]
    notes = _in_order([*performer.notes.get("", []), *performer.notes.get(topic, [])])
    names = BatchNames()
    if topic in scenario.topics_of_application:
        # Spark makes batches of its own of the records that it copies.
        names.learn_stored(read_log(stage.bootstrap_servers, topic, scenario.topics[topic]), requests)
    moments = build_timeline(requests, notes, names, performer.rules, version.batches_retained)
    if len(scenario.topics) == 1:
        return moments
    return [Moment(kind="note", who="test", text=f"the topic {topic}"), *moments] if requests else []


def _is_about(request: SeenRequest, topic: str) -> bool:
    return request.api == "Produce" and any(batch.topic == topic for batch in request.batches)


def _in_order(notes: Sequence[Note]) -> list[Note]:
    return sorted(notes, key=lambda note: note.after)
