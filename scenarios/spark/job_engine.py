"""Runs a scenario with Spark on a broker in this process; jobs, audit and dedup run in their own processes."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

from msgspec import Struct

from ...storage.producers.emulated_version import EmulatedVersion
from ..brokers.cluster_broker import start_in_process
from ..brokers.in_process_broker import InProcessBroker
from ..clients.client import ClientUnavailable
from ..clients.clients import NamedClient, client_of
from ..engine import Report
from ..report.batch_names import BatchNames
from ..report.stored_log import read_log
from ..report.timeline import Moment, build_timeline
from ..scenario import RAW, is_within
from .job_checks import JobRunResult, check_jobs
from .job_process import AuditVerdict, JobOutcome
from .job_scenario import JobScenario
from .job_step_runner import JobRunContext, JobStepRunner

SPARK = "Spark"


class StoredTopic(Struct, kw_only=True):
    """The content of a topic at the end. copies: the number of events by their number of copies."""

    topic: str
    rows: int
    events: int
    copies: dict[int, int]


class JobReport(Report, kw_only=True):
    """The report of a scenario with Spark, with the results of jobs, audits and dedups."""

    jobs: dict[str, JobOutcome]
    stored: list[StoredTopic]
    audits: dict[str, AuditVerdict]
    dedups: dict[str, list[str]]


def run_with_spark(scenario: JobScenario, client: NamedClient | None, as_version: str | None = None) -> JobReport:
    """Run a scenario on its own broker.

    client: the producer of the application; None for the raw client.

    Raises ClientUnavailable if Spark is missing or the version or the client do not fit, ClientStuck or BrokerFailed
    if the run did not finish, and ValueError for an unsupported version.
    """
    version = EmulatedVersion.parse(as_version) if as_version else EmulatedVersion.latest()
    if not is_within(scenario.versions, version.name):
        raise ClientUnavailable(f"{scenario.name} is about Kafka {scenario.versions}, not {version.name}")
    if not scenario.has_application and client is not None:
        raise ClientUnavailable(f"{scenario.name} uses only Spark's own client, not {client.name}")
    client = client or client_of(RAW)
    broker = start_in_process(version.name, scenario.nodes)
    try:
        with tempfile.TemporaryDirectory(prefix="fauxka-scenario-") as folder:
            runner = JobStepRunner(JobRunContext(scenario, client, broker, Path(folder)))
            try:
                runner.run()
            finally:
                runner.close()
        return _report(scenario, client, broker, runner, version)
    finally:
        broker.close()


def _report(
    scenario: JobScenario,
    client: NamedClient,
    broker: InProcessBroker,
    runner: JobStepRunner,
    version: EmulatedVersion,
) -> JobReport:
    stored = {name: _counted(broker, name, partitions) for name, partitions in scenario.topics.items()}
    checks = check_jobs(scenario.expect, JobRunResult(runner.results, stored))
    timeline = [moment for topic in scenario.topics for moment in _timeline(scenario, broker, runner, topic, version)]
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
        jobs=runner.results.jobs,
        stored=[_stored(topic, events) for topic, events in stored.items()],
        audits=runner.results.audits,
        dedups=runner.results.dedups,
    )


def _counted(broker: InProcessBroker, topic: str, partitions: int) -> Counter[str]:
    return Counter(event for batch in read_log(broker.bootstrap_servers, topic, partitions) for event in batch.events)


def _stored(topic: str, events: Counter[str]) -> StoredTopic:
    copies = Counter(events.values())
    return StoredTopic(topic=topic, rows=events.total(), events=len(events), copies=dict(sorted(copies.items())))


def _timeline(
    scenario: JobScenario, broker: InProcessBroker, runner: JobStepRunner, topic: str, version: EmulatedVersion
) -> list[Moment]:
    """Return the timeline of one topic; producers and offsets are unique only within a topic."""
    requests = [
        request
        for request in broker.journal()
        if request.api == "Produce" and any(batch.topic == topic for batch in request.batches)
    ]
    for request in requests:
        request.process = runner.process_of(request)
    notes = sorted([*runner.notes.get("", []), *runner.notes.get(topic, [])], key=lambda note: note.after)
    names = BatchNames()
    if topic in scenario.topics_of_application:
        # Only batches of the application have names; Spark builds its own batches.
        names.add_stored(read_log(broker.bootstrap_servers, topic, scenario.topics[topic]), requests)
    moments = build_timeline(requests, notes, names, runner.rules, version.batches_retained)
    if len(scenario.topics) == 1:
        return moments
    return [Moment(kind="note", who="test", text=f"the topic {topic}"), *moments] if requests else []
