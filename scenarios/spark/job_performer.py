"""Does the steps of a scenario with Spark, and keeps what came of each."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import assert_never

from ...protocol.sequences import increment_sequence
from ..clients.client import ClientOptions, ScenarioClient, events_of
from ..clients.clients import NamedClient
from ..engine import DELIVERY_MS, RAW_REQUEST_MS, REAL_REQUEST_MS
from ..report.notes import Note, Who
from ..report.timeline import RuleInWords
from ..scenario import RAW, Arm, Batch, Lift
from ..stages.in_process_stage import InProcessStage
from ..stages.stage import EVENT_ID, create_topic, delete_topic
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


@dataclass(frozen=True, slots=True)
class JobCast:
    """Who takes part. folder: for what the steps leave for one another."""

    scenario: JobScenario
    client: NamedClient
    stage: InProcessStage
    folder: Path


@dataclass(slots=True)
class Came:
    """What came of the steps: by the job's name, and by the topic that was looked at."""

    jobs: dict[str, JobOutcome] = field(default_factory=dict[str, JobOutcome])
    audits: dict[str, AuditVerdict] = field(default_factory=dict[str, AuditVerdict])
    dedups: dict[str, list[str]] = field(default_factory=dict[str, list[str]])


class JobPerformer:
    """One run of a scenario's steps.

    came: what came of them. notes: by topic, "" for what concerns all. rules: those that were armed, by their ids.
    """

    def __init__(self, cast: JobCast) -> None:
        """Make the topics."""
        self.came = Came()
        self.notes: dict[str, list[Note]] = {}
        self.rules: dict[int, RuleInWords] = {}
        self._cast = cast
        self._stage = cast.stage
        self._armed: dict[str, int] = {}
        self._clients: dict[str, ScenarioClient] = {}
        self._acked: dict[str, list[str]] = {}
        self._next_sequences: dict[str, int] = {}
        for topic in cast.scenario.topics:
            self._create(topic)

    def perform(self) -> None:
        """Do all steps. Raises ClientUnavailable where there is no Spark, ClientStuck and StageFailed."""
        for step in self._cast.scenario.steps:
            self._do(step)

    def close(self) -> None:
        """End the application."""
        for client in self._clients.values():
            client.close()
        self._clients.clear()

    def _do(self, step: AnyJobStep) -> None:
        match step:
            case Send():
                self._send(step)
            case WriteJob() | CopyJob():
                self._run_job(step)
            case AuditLog() | DedupLog():
                self._look(step)
            case Arm() | Lift():
                self._rule(step)
            case Recreate() | LoseWrites() | Crash():
                self._harm(step)
            case _:
                assert_never(step)

    # -- the application

    def _send(self, step: Send) -> None:
        if step.again:
            self._note(step.topic, "client", f"the application sends {', '.join(step.batches)} again")
        client = self._client_of(step.topic)
        for name in step.batches:
            batch = self._cast.scenario.batches[name]
            if step.again:
                # The raw client takes its sequences from the batch: the same ones would be a retry.
                first = self._next_sequences[step.topic]
                batch = Batch(name, first, increment_sequence(first, batch.count - 1))
            self._next_sequences[step.topic] = increment_sequence(batch.last_sequence, 1)
            client.send(batch, 0)
            client.settle(retries=True)
            if client.deliveries[-1].offset is not None:
                self._acked.setdefault(step.topic, []).extend(events_of(batch))

    def _client_of(self, topic: str) -> ScenarioClient:
        if topic not in self._clients:
            name = self._cast.client.name
            options = ClientOptions(
                bootstrap_servers=self._stage.bootstrap_servers,
                topic=topic,
                is_idempotent=True,
                request_ms=RAW_REQUEST_MS if name == RAW else REAL_REQUEST_MS,
                delivery_ms=DELIVERY_MS,
                note=lambda text: self._note(topic, "client", text),
            )
            self._clients[topic] = self._cast.client.make(options)
        return self._clients[topic]

    # -- Spark

    def _run_job(self, step: WriteJob | CopyJob) -> None:
        # What a stream copies is told of the topic that it goes to as well.
        topics = [step.topic] if isinstance(step, WriteJob) else [step.topic, step.to]
        self._note_each(topics, f'Spark begins the job "{step.job}"{_in_words(step.options)}')
        outcome = run_job(self._arguments(step))
        for attempt in outcome.attempts:
            text = f"attempt {attempt.number} of the task fails: {attempt.failure}"
            self._notes_of(topics[-1]).append(Note(self._last_request(attempt.ended_ms), "client", text))
        self._note_each(topics, f'"{step.job}" has {outcome.status}{_why(outcome)}')
        self.came.jobs[step.job] = outcome

    def _arguments(self, step: WriteJob | CopyJob) -> list[str]:
        options = [word for key, value in step.options.items() for word in ("-o", f"{key}={value}")]
        base = ["--bootstrap", self._stage.bootstrap_servers]
        if isinstance(step, WriteJob):
            sizes = ["--events", str(step.events), "--value-bytes", str(step.value_bytes)]
            sizes += ["--attempts", str(step.attempts)]
            return ["write", *base, "--to", step.topic, *sizes, *options]
        checkpoint = str(self._cast.folder / f"checkpoint-{step.checkpoint}")
        return ["copy", *base, "--from", step.topic, "--to", step.to, "--checkpoint", checkpoint, *options]

    def _look(self, step: AuditLog | DedupLog) -> None:
        base = ["--bootstrap", self._stage.bootstrap_servers, "--event-id", EVENT_ID]
        if isinstance(step, DedupLog):
            self.came.dedups[step.topic] = run_dedup(["--from", step.topic, "--to", step.to, *base])
            return
        ledger = [] if not step.sent_to else ["--sent", str(self._ledger(step.sent_to))]
        self.came.audits[step.topic] = run_audit([*base, "--topics", step.topic, *ledger])

    def _ledger(self, topics: list[str]) -> Path:
        """Write down what the application sent to the topics and was told to be there, a line for each event."""
        path = self._cast.folder / "sent.jsonl"
        events = [event for topic in topics for event in self._acked.get(topic, [])]
        path.write_text("".join(json.dumps({"event_id": event}) + "\n" for event in events), encoding="utf-8")
        return path

    # -- rules, and what else is done to the broker

    def _rule(self, step: Arm | Lift) -> None:
        if isinstance(step, Lift):
            self._stage.lift(self._armed[step.rule])
            self._note("", "test", f"lifts the rule: {step.rule}")
            return
        rule = {
            "name": step.name,
            "match": {"api": "Produce", **step.match},
            "when": step.when,
            "point": step.point,
            "action": step.action,
        }
        rule_id = self._armed[step.name] = self._stage.arm(rule)
        self.rules[rule_id] = RuleInWords(step.name, step.point, str(step.action["kind"]))
        self._note(str(step.match.get("topic", "")), "test", f"arms a rule: {step.name}")

    def _harm(self, step: Recreate | LoseWrites | Crash) -> None:
        match step:
            case Recreate(topic=topic):
                delete_topic(self._stage.bootstrap_servers, topic)
                self._create(topic)
                self._note(topic, "test", "deletes the topic, and makes it again")
            case LoseWrites(topic=topic):
                self._stage.lose_writes(topic)
                self._note(topic, "test", "from here on the disk loses what is written to the log")
            case Crash():
                self._stage.crash()
                self.close()
                self._note("", "broker", "is killed, and starts again with what its disk holds")
            case _:
                assert_never(step)

    def _create(self, topic: str) -> None:
        create_topic(self._stage.bootstrap_servers, topic, self._cast.scenario.topics[topic], {})

    # -- notes

    def _note(self, topic: str, who: Who, text: str) -> None:
        self._notes_of(topic).append(Note(self._last_request(), who, text))

    def _note_each(self, topics: list[str], text: str) -> None:
        for topic in topics:
            self._note(topic, "client", text)

    def _notes_of(self, topic: str) -> list[Note]:
        return self.notes.setdefault(topic, [])

    def _last_request(self, at_ms: int | None = None) -> int:
        """Return the id of the last request until now, or until a time."""
        ids = [request.id for request in self._stage.journal() if at_ms is None or request.at_ms <= at_ms]
        return max(ids, default=0)


def _in_words(options: dict[str, str]) -> str:
    if not options:
        return ""
    return " with " + ", ".join(f"{key.removeprefix('kafka.')}={value}" for key, value in options.items())


def _why(outcome: JobOutcome) -> str:
    return f": {outcome.reason}" if outcome.reason else ""
