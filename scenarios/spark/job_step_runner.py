"""Runs the steps of a scenario with Spark, and records their results."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import assert_never

from ...protocol.sequences import increment_sequence
from ..brokers.cluster_broker import ClusterBroker
from ..brokers.in_process_broker import InProcessBroker
from ..brokers.scenario_broker import EVENT_ID, BrokerFailed, create_topic, delete_topic
from ..clients.client import ClientOptions, ScenarioClient, events_of
from ..clients.clients import NamedClient
from ..engine import DELIVERY_MS, RAW_REQUEST_MS, REAL_REQUEST_MS
from ..node_steps import run_node_step
from ..report.journal_requests import JournalRequest
from ..report.notes import Note, Who
from ..report.stored_log import read_log
from ..report.timeline import NamedRule
from ..scenario import RAW
from ..steps import Arm, Batch, Lift, StartNode, StopNode
from .job_process import PROCESS_SECONDS_MAX, AuditVerdict, JobOutcome, RunningJob, run_audit, run_dedup
from .job_scenario import (
    AnyJobStep,
    AuditLog,
    AwaitRows,
    CopyJob,
    Crash,
    DedupLog,
    EndCopy,
    JobScenario,
    LoseWrites,
    Recreate,
    Send,
    WriteJob,
)

# The process of the producers of the application.
APPLICATION = "application"
AWAIT_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class JobRunContext:
    """The scenario, client and broker of a run. folder: for files that steps share."""

    scenario: JobScenario
    client: NamedClient
    broker: InProcessBroker
    folder: Path


@dataclass(frozen=True, slots=True)
class _StartedJob:
    """topics: those with its notes; it writes to the last one. first_request: the first journal id that can be its."""

    name: str
    topics: list[str]
    first_request: int
    running: RunningJob

    @property
    def process(self) -> str:
        return f"job {self.name}"


@dataclass(frozen=True, slots=True)
class _Writes:
    """The journal ids of the time in which a process alone wrote to a topic."""

    ids: range
    topic: str
    process: str


@dataclass(slots=True)
class JobResults:
    """The results of jobs by name, and of audits and dedups by topic."""

    jobs: dict[str, JobOutcome] = field(default_factory=dict[str, JobOutcome])
    audits: dict[str, AuditVerdict] = field(default_factory=dict[str, AuditVerdict])
    dedups: dict[str, list[str]] = field(default_factory=dict[str, list[str]])


class JobStepRunner:
    """One run of a scenario's steps.

    notes: by topic, "" for all topics. rules: the armed rules, by id.
    """

    def __init__(self, context: JobRunContext) -> None:
        """Create the topics."""
        self.results = JobResults()
        self.notes: dict[str, list[Note]] = {}
        self.rules: dict[int, NamedRule] = {}
        self._context = context
        self._broker = context.broker
        self._armed: dict[str, int] = {}
        self._clients: dict[str, ScenarioClient] = {}
        self._acked: dict[str, list[str]] = {}
        self._next_sequences: dict[str, int] = {}
        self._running: dict[str, _StartedJob] = {}
        self._writes: list[_Writes] = []
        for topic in context.scenario.topics:
            self._create(topic)

    def run(self) -> None:
        """Run all steps. Raises ClientUnavailable without Spark, ClientStuck and BrokerFailed."""
        for step in self._context.scenario.steps:
            self._run_step(step)

    def close(self) -> None:
        """Close the producers of the application, and kill the jobs that still run."""
        self._close_clients()
        for job in self._running.values():
            job.running.kill()
        self._running.clear()

    def _close_clients(self) -> None:
        for client in self._clients.values():
            client.close()
        self._clients.clear()

    def _run_step(self, step: AnyJobStep) -> None:
        match step:
            case Send():
                self._send(step)
            case WriteJob() | CopyJob() | EndCopy() | AwaitRows():
                self._change_jobs(step)
            case AuditLog() | DedupLog():
                self._inspect(step)
            case Arm() | Lift():
                self._change_rules(step)
            case Recreate() | LoseWrites() | Crash():
                self._change_broker(step)
            case StopNode() | StartNode():
                self._change_nodes(step)
            case _:
                assert_never(step)

    def process_of(self, request: JournalRequest) -> str:
        """Return the process of a Produce request: a job, or the application."""
        topics = {batch.topic for batch in request.batches}
        return next(
            (each.process for each in self._writes if request.id in each.ids and each.topic in topics), APPLICATION
        )

    # -- the application

    def _send(self, step: Send) -> None:
        if step.again:
            self._note(step.topic, "client", f"the application sends {', '.join(step.batches)} again", APPLICATION)
        client = self._client_of(step.topic)
        for name in step.batches:
            batch = self._context.scenario.batches[name]
            if step.again:
                # The raw client uses the sequences of the batch; the same ones would be a retry.
                first = self._next_sequences[step.topic]
                batch = Batch(name, first, increment_sequence(first, batch.count - 1))
            self._next_sequences[step.topic] = increment_sequence(batch.last_sequence, 1)
            client.send(batch, 0)
            client.settle(retries=True)
            if client.deliveries[-1].offset is not None:
                self._acked.setdefault(step.topic, []).extend(events_of(batch))

    def _client_of(self, topic: str) -> ScenarioClient:
        if topic not in self._clients:
            name = self._context.client.name
            options = ClientOptions(
                bootstrap_servers=self._broker.bootstrap_servers,
                topic=topic,
                is_idempotent=True,
                confirms_loss=True,
                request_ms=RAW_REQUEST_MS if name == RAW else REAL_REQUEST_MS,
                delivery_ms=DELIVERY_MS,
                add_note=lambda process, text: self._note(topic, "client", text, process),
                process=APPLICATION,
            )
            self._clients[topic] = self._context.client.make(options)
        return self._clients[topic]

    # -- Spark

    def _change_jobs(self, step: WriteJob | CopyJob | EndCopy | AwaitRows) -> None:
        match step:
            case EndCopy(job=job):
                self._end_job(self._running.pop(job))
            case AwaitRows(topic=topic, rows=rows):
                self._await_rows(topic, rows)
            case CopyJob(follow=True):
                self._running[step.job] = self._start_job(step)
            case _:
                self._end_job(self._start_job(step))

    def _start_job(self, step: WriteJob | CopyJob) -> _StartedJob:
        # The notes of a copy belong to both topics.
        topics = [step.topic] if isinstance(step, WriteJob) else [step.topic, step.to]
        job = _StartedJob(step.job, topics, self._last_request() + 1, RunningJob(self._arguments(step)))
        self._note_each(topics, f'Spark starts the job "{job.name}"{_options_text(step.options)}', job.process)
        return job

    def _end_job(self, job: _StartedJob) -> None:
        outcome = job.running.end()
        self._writes.append(_Writes(range(job.first_request, self._last_request() + 1), job.topics[-1], job.process))
        for attempt in outcome.attempts:
            text = f"attempt {attempt.number} of the task fails: {attempt.failure}"
            self._notes_of(job.topics[-1]).append(
                Note(self._last_request(attempt.ended_ms), "client", text, job.process)
            )
        reason = f": {outcome.reason}" if outcome.reason else ""
        self._note_each(job.topics, f'"{job.name}" has {outcome.status}{reason}', job.process)
        self.results.jobs[job.name] = outcome

    def _await_rows(self, topic: str, rows: int) -> None:
        partitions = self._context.scenario.topics[topic]
        deadline = time.monotonic() + PROCESS_SECONDS_MAX
        while (stored := self._rows_in(topic, partitions)) < rows:
            for job in self._running.values():
                if job.running.has_ended:
                    outcome = job.running.end()
                    raise BrokerFailed(f'"{job.name}" has {outcome.status} too early: {outcome.reason}')
            if time.monotonic() > deadline:
                raise BrokerFailed(f"{topic} has {stored} records, {rows} were expected")
            time.sleep(AWAIT_POLL_SECONDS)

    def _rows_in(self, topic: str, partitions: int) -> int:
        batches = read_log(self._broker.bootstrap_servers, topic, partitions)
        return sum(len(batch.events) for batch in batches)

    def _arguments(self, step: WriteJob | CopyJob) -> list[str]:
        options = [word for key, value in step.options.items() for word in ("-o", f"{key}={value}")]
        base = ["--bootstrap", self._broker.bootstrap_servers]
        if isinstance(step, WriteJob):
            sizes = ["--events", str(step.events), "--value-bytes", str(step.value_bytes)]
            sizes += ["--attempts", str(step.attempts)]
            return ["write", *base, "--to", step.topic, *sizes, *options]
        checkpoint = str(self._context.folder / f"checkpoint-{step.checkpoint}")
        follow = ["--follow"] if step.follow else []
        return ["copy", *base, "--from", step.topic, "--to", step.to, "--checkpoint", checkpoint, *follow, *options]

    def _inspect(self, step: AuditLog | DedupLog) -> None:
        base = ["--bootstrap", self._broker.bootstrap_servers, "--event-id", EVENT_ID]
        if isinstance(step, DedupLog):
            self.results.dedups[step.topic] = run_dedup(["--from", step.topic, "--to", step.to, *base])
            return
        ledger = [] if not step.sent_to else ["--sent", str(self._ledger(step.sent_to))]
        self.results.audits[step.topic] = run_audit([*base, "--topics", step.topic, *ledger])

    def _ledger(self, topics: list[str]) -> Path:
        """Write a ledger with one line per acknowledged event of the topics."""
        path = self._context.folder / "sent.jsonl"
        events = [event for topic in topics for event in self._acked.get(topic, [])]
        path.write_text("".join(json.dumps({"event_id": event}) + "\n" for event in events), encoding="utf-8")
        return path

    # -- rules and the broker

    def _change_rules(self, step: Arm | Lift) -> None:
        if isinstance(step, Lift):
            self._broker.remove_rule(self._armed[step.rule])
            self._note("", "test", f"removes the rule: {step.rule}")
            return
        rule = {
            "name": step.name,
            "match": {"api": "Produce", **step.match},
            "when": step.when,
            "point": step.point,
            "action": step.action,
        }
        rule_id = self._armed[step.name] = self._broker.arm(rule)
        self.rules[rule_id] = NamedRule(step.name, step.point, str(step.action["kind"]))
        self._note(str(step.match.get("topic", "")), "test", f"arms a rule: {step.name}")

    def _change_broker(self, step: Recreate | LoseWrites | Crash) -> None:
        match step:
            case Recreate(topic=topic):
                delete_topic(self._broker.bootstrap_servers, topic)
                self._create(topic)
                self._note(topic, "test", "deletes the topic and creates it again")
            case LoseWrites(topic=topic):
                self._broker.lose_writes(topic)
                self._note(topic, "test", "from now on the disk loses all writes to the log")
            case Crash():
                self._broker.crash()
                self._close_clients()
                self._note("", "broker", "is killed, and restarts with the content of its disk")
            case _:
                assert_never(step)

    def _change_nodes(self, step: StopNode | StartNode) -> None:
        assert isinstance(self._broker, ClusterBroker), "the scenario has one node"
        text = run_node_step(step, self._broker)
        for topic in self._context.scenario.topics:
            self._note(topic, "broker", f"{text}: {self._broker.leader_text(topic)}")

    def _create(self, topic: str) -> None:
        create_topic(self._broker.bootstrap_servers, topic, self._context.scenario.topics[topic], {})

    # -- notes

    def _note(self, topic: str, who: Who, text: str, process: str = "") -> None:
        self._notes_of(topic).append(Note(self._last_request(), who, text, process))

    def _note_each(self, topics: list[str], text: str, process: str) -> None:
        for topic in topics:
            self._note(topic, "client", text, process)

    def _notes_of(self, topic: str) -> list[Note]:
        return self.notes.setdefault(topic, [])

    def _last_request(self, at_ms: int | None = None) -> int:
        """Return the id of the last request up to at_ms, or up to now."""
        ids = [request.id for request in self._broker.journal() if at_ms is None or request.at_ms <= at_ms]
        return max(ids, default=0)


def _options_text(options: dict[str, str]) -> str:
    if not options:
        return ""
    return " with " + ", ".join(f"{key.removeprefix('kafka.')}={value}" for key, value in options.items())
