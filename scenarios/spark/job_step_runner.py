"""Runs the steps of a scenario with Spark, and records their results."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import assert_never

from ...protocol.sequences import increment_sequence
from ..brokers.in_process_broker import InProcessBroker
from ..brokers.scenario_broker import EVENT_ID, create_topic, delete_topic
from ..clients.client import ClientOptions, ScenarioClient, events_of
from ..clients.clients import NamedClient
from ..engine import DELIVERY_MS, RAW_REQUEST_MS, REAL_REQUEST_MS
from ..report.journal_requests import JournalRequest
from ..report.notes import Note, Who
from ..report.timeline import NamedRule
from ..scenario import RAW, Arm, Batch, Lift
from .job_process import AuditVerdict, JobOutcome, run_audit, run_dedup, run_job
from .job_scenario import (
    AnyJobStep,
    AuditLog,
    CopyJob,
    Crash,
    DedupLog,
    JobScenario,
    LoseWrites,
    Recreate,
    Send,
    WriteJob,
)

# The process of the producers of the application.
APPLICATION = "application"


@dataclass(frozen=True, slots=True)
class JobRunContext:
    """The scenario, client and broker of a run. folder: for files that steps share."""

    scenario: JobScenario
    client: NamedClient
    broker: InProcessBroker
    folder: Path


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
        self._requests_of_jobs: list[tuple[range, str]] = []
        for topic in context.scenario.topics:
            self._create(topic)

    def run(self) -> None:
        """Run all steps. Raises ClientUnavailable without Spark, ClientStuck and BrokerFailed."""
        for step in self._context.scenario.steps:
            self._run_step(step)

    def close(self) -> None:
        """Close the producers of the application."""
        for client in self._clients.values():
            client.close()
        self._clients.clear()

    def _run_step(self, step: AnyJobStep) -> None:
        match step:
            case Send():
                self._send(step)
            case WriteJob() | CopyJob():
                self._run_job(step)
            case AuditLog() | DedupLog():
                self._inspect(step)
            case Arm() | Lift():
                self._change_rules(step)
            case Recreate() | LoseWrites() | Crash():
                self._change_broker(step)
            case _:
                assert_never(step)

    def process_of(self, request: JournalRequest) -> str:
        """Return the process of a request: a job, or the application."""
        return next((process for ids, process in self._requests_of_jobs if request.id in ids), APPLICATION)

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
                request_ms=RAW_REQUEST_MS if name == RAW else REAL_REQUEST_MS,
                delivery_ms=DELIVERY_MS,
                add_note=lambda process, text: self._note(topic, "client", text, process),
                process=APPLICATION,
            )
            self._clients[topic] = self._context.client.make(options)
        return self._clients[topic]

    # -- Spark

    def _run_job(self, step: WriteJob | CopyJob) -> None:
        # The notes of a copy belong to both topics.
        topics = [step.topic] if isinstance(step, WriteJob) else [step.topic, step.to]
        process = f"job {step.job}"
        self._note_each(topics, f'Spark starts the job "{step.job}"{_options_text(step.options)}', process)
        first = self._last_request() + 1
        outcome = run_job(self._arguments(step))
        # No other process sends meanwhile.
        self._requests_of_jobs.append((range(first, self._last_request() + 1), process))
        for attempt in outcome.attempts:
            text = f"attempt {attempt.number} of the task fails: {attempt.failure}"
            self._notes_of(topics[-1]).append(Note(self._last_request(attempt.ended_ms), "client", text, process))
        reason = f": {outcome.reason}" if outcome.reason else ""
        self._note_each(topics, f'"{step.job}" has {outcome.status}{reason}', process)
        self.results.jobs[step.job] = outcome

    def _arguments(self, step: WriteJob | CopyJob) -> list[str]:
        options = [word for key, value in step.options.items() for word in ("-o", f"{key}={value}")]
        base = ["--bootstrap", self._broker.bootstrap_servers]
        if isinstance(step, WriteJob):
            sizes = ["--events", str(step.events), "--value-bytes", str(step.value_bytes)]
            sizes += ["--attempts", str(step.attempts)]
            return ["write", *base, "--to", step.topic, *sizes, *options]
        checkpoint = str(self._context.folder / f"checkpoint-{step.checkpoint}")
        return ["copy", *base, "--from", step.topic, "--to", step.to, "--checkpoint", checkpoint, *options]

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
                self.close()
                self._note("", "broker", "is killed, and restarts with the content of its disk")
            case _:
                assert_never(step)

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
