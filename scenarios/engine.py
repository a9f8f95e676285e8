"""Runs a scenario: does its steps with a client against a broker, and compares what was seen with what must be seen."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, assert_never

from msgspec import Struct

from ..protocol.record_batch import increment_sequence
from ..storage.emulated_version import EmulatedVersion
from .batch_names import BatchNames
from .client import BATCH_HEADER, NO_ANSWER, ClientOptions, ClientUnavailable, ScenarioClient, events_of
from .clients import NamedClient, client_of
from .expectations import Check, Seen, check
from .intruder import intrude
from .raw_client import RawClient
from .scenario import (
    RAW,
    Adopt,
    Advance,
    AnyStep,
    Arm,
    AwaitHits,
    Batch,
    Evict,
    Forget,
    GiveUp,
    Intrude,
    Kill,
    Lift,
    RaiseEpoch,
    Release,
    RestartProducer,
    Scenario,
    Send,
    Settle,
    Stream,
    is_within,
)
from .seen_requests import SeenBatch
from .stage import Stage, StageFailed, create_topic
from .stages import open_stage
from .stored_log import StoredBatch, read_log
from .timeline import Moment, Note, RuleInWords, Who, build_timeline

TOPIC = "events"

# How long a client waits for an answer before it sends again: short, as nothing here takes long unless it is lost.
RAW_REQUEST_MS = 400
REAL_REQUEST_MS = 700
# How long it tries at all; a scenario that needs its patience to end says less.
DELIVERY_MS = 20_000
# How long a batch may need to come to the broker if it does not wait within its client.
ARRIVAL_MS = 150
# What an idempotent producer may have on its way.
IN_FLIGHT_MAX = 5
STREAM = "stream"
# The APIs that a timeline shows; a client asks for metadata and versions as it likes.
SHOWN_APIS = ("Produce", "InitProducerId")


class Report(Struct, kw_only=True):
    """What came of a scenario. instead_of: which client was asked for, and why it cannot do it; "" if it could."""

    scenario: str
    title: str
    story: str
    client: str
    instead_of: str = ""
    as_version: str
    passed: bool
    checks: list[Check]
    verdict: dict[str, Any]
    timeline: list[Moment]


@dataclass(slots=True)
class _Record:
    """What is written down while the steps are done.

    rules: by their ids; armed: the ids of those of a name; arrivals: the id of the rule that counts a batch.
    sent: how often each batch was.
    """

    notes: list[Note] = field(default_factory=list[Note])
    rules: dict[int, RuleInWords] = field(default_factory=dict[int, RuleInWords])
    armed: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    arrivals: dict[str, int] = field(default_factory=dict[str, int])
    names: BatchNames = field(default_factory=BatchNames)
    sent: dict[str, int] = field(default_factory=dict[str, int])
    streamed: list[str] = field(default_factory=list[str])


def check_possible(scenario: Scenario, client: str, version: str) -> None:
    """Raise ClientUnavailable where the scenario says nothing about the version or the client."""
    if not is_within(scenario.versions, version):
        raise ClientUnavailable(f"{scenario.name} is about Kafka {scenario.versions}, not {version}")
    if not scenario.expected_of(client, version):
        raise ClientUnavailable(f"{scenario.name} says nothing about {client} and Kafka {version}")


def run(scenario: Scenario, client: NamedClient, as_version: str | None = None) -> Report:
    """Run a scenario on a broker of its own; with the raw client where the one that is asked for cannot do it.

    Raises ClientUnavailable where it cannot be done so, ClientStuck or StageFailed where it did not come to an end, and
    ValueError for a version whose rules are not known.
    """
    version = EmulatedVersion.parse(as_version) if as_version else EmulatedVersion.latest()
    instead_of = ""
    if client.name in scenario.unable:
        instead_of = f"{client.name}: {scenario.unable[client.name]}"
        client = client_of(RAW)
    check_possible(scenario, client.name, version.name)
    stage = open_stage(scenario, version.name)
    try:
        create_topic(stage.bootstrap_servers, TOPIC, scenario.partitions, scenario.topic_config)
        report = _Run(scenario, client, version, stage).report()
        report.instead_of = instead_of
        return report
    finally:
        stage.close()


class _Run:
    """One scenario on one broker."""

    def __init__(self, scenario: Scenario, client: NamedClient, version: EmulatedVersion, stage: Stage) -> None:
        self._scenario = scenario
        self._named = client
        self._version = version
        self._stage = stage
        self._record = _Record()
        self._is_raw = client.name == RAW
        self._steps = scenario.steps_for(client.name)
        self._watch_batches()
        request_ms = scenario.request_ms or (RAW_REQUEST_MS if self._is_raw else REAL_REQUEST_MS)
        self._client: ScenarioClient = client.make(
            ClientOptions(
                bootstrap_servers=stage.bootstrap_servers,
                topic=TOPIC,
                is_idempotent=scenario.idempotent,
                request_ms=request_ms,
                delivery_ms=scenario.delivery_ms or DELIVERY_MS,
                note=lambda text: self._note("client", text),
            )
        )

    def report(self) -> Report:
        """Do the steps, and compare."""
        try:
            for step in self._steps:
                if step.says:
                    self._note("test", step.says)
                self._do(step)
        finally:
            self._client.close()
        stored = read_log(self._stage.bootstrap_servers, TOPIC, self._scenario.partitions)
        requests = [request for request in self._stage.journal() if request.api in SHOWN_APIS]
        names = self._record.names
        names.learn_stored(stored, requests)
        timeline = build_timeline(
            requests, self._record.notes, names, self._record.rules, self._version.batches_remembered
        )
        seen = self._seen(timeline, stored)
        checks = [
            each
            for expected in self._scenario.expected_of(self._named.name, self._version.name)
            for each in check(expected, seen)
        ]
        return Report(
            scenario=self._scenario.name,
            title=self._scenario.title,
            story=self._scenario.story.strip(),
            client=self._named.name,
            as_version=self._version.name,
            passed=all(each.passed for each in checks),
            checks=checks,
            verdict=dict(seen.verdict),
            timeline=timeline,
        )

    def _seen(self, timeline: list[Moment], stored: list[StoredBatch]) -> Seen:
        decisions: dict[str, list[Moment]] = {}
        for moment in timeline:
            if moment.batch is not None and (moment.kind == "decision" or moment.lost):
                decisions.setdefault(moment.batch.name, []).append(moment)
        return Seen(
            client=self._named.name,
            deliveries=self._client.deliveries,
            decisions=decisions,
            stored=stored,
            cached=self._cached(timeline),
            verdict=self._stage.verdict(TOPIC),
            streamed=self._record.streamed,
        )

    def _cached(self, timeline: list[Moment]) -> list[str]:
        """Return what the broker says that it remembers of the producer that wrote last, by name."""
        decided = [moment for moment in timeline if moment.cached is not None and moment.batch is not None]
        if not decided or decided[-1].batch is None:
            return []
        last = decided[-1].batch
        names = {(window.base_sequence, window.last_sequence): window.name for window in decided[-1].cached or []}
        remembered = self._stage.remembered(TOPIC).get((last.partition, last.producer_id), [])
        return [names.get(sequences, f"{sequences[0]}..{sequences[1]}") for sequences in remembered]

    def _watch_batches(self) -> None:
        """Arm a rule for each batch that only counts, to know when the batch has come."""
        sent = [name for step in self._steps if isinstance(step, Send) for name in step.batches]
        for name in dict.fromkeys(sent):
            rule = {
                "name": f"sees {name}",
                "match": {"api": "Produce", "topic": TOPIC, "header": batch_header(name)},
                "when": {"times": None},
                "point": "received",
                "action": {"kind": "observe"},
            }
            self._record.arrivals[name] = self._stage.arm(rule)

    def _do(self, step: AnyStep) -> None:
        match step:
            case Send():
                self._send(step)
            case Stream():
                self._stream(step)
            case Settle(retries=retries):
                self._client.settle(retries=retries)
            case GiveUp():
                self._client.give_up()
            case Arm():
                self._arm(step)
            case AwaitHits(rule=name, hits=hits):
                for rule_id in self._record.armed[name]:
                    self._stage.await_hits(rule_id, hits)
            case Lift(rule=name):
                for rule_id in self._record.armed[name]:
                    self._stage.lift(rule_id)
            case Release():
                self._note("broker", "goes on with what it held", releases=True)
                self._stage.release_held()
            case Advance(ms=ms):
                self._stage.advance(ms)
                self._note("broker", f"its clock goes forward by {ms} ms", changes=True)
            case Evict() | Forget() | Intrude() | Kill():
                self._do_to_broker(step)
            case RestartProducer():
                self._note("client", "the process ends; a new one begins")
                self._client.restart()
            case RaiseEpoch() | Adopt():
                self._do_raw(step)
            case _:
                assert_never(step)

    def _do_to_broker(self, step: Evict | Forget | Intrude | Kill) -> None:
        match step:
            case Evict(partition=partition):
                producer_id = self._last_batch().producer_id
                self._stage.evict_cache(TOPIC, partition, producer_id)
                self._note("broker", f"forgets the cached batches of producer {producer_id}", changes=True)
            case Forget(partition=partition):
                producer_id = self._last_batch().producer_id
                self._stage.forget_producer(TOPIC, partition, producer_id)
                self._note("broker", f"forgets producer {producer_id}", changes=True)
            case Intrude(batch=name):
                self._intrude(self._scenario.batches[name])
            case Kill(torn_bytes=torn_bytes):
                self._stage.kill(TOPIC, torn_bytes)
                text = f"is killed, and leaves {torn_bytes} bytes of a batch behind; starts again on the same folder"
                self._note("broker", text, changes=True)
                # Rules end with the process.
                self._record.sent.clear()
                self._watch_batches()
            case _:
                assert_never(step)

    def _do_raw(self, step: RaiseEpoch | Adopt) -> None:
        assert isinstance(self._client, RawClient), f"only the raw client can {step}"
        if isinstance(step, Adopt):
            self._client.adopt(step.producer_id, step.producer_epoch)
        else:
            self._client.raise_epoch()

    def _send(self, step: Send) -> None:
        if step.again:
            self._note("client", f"the application sends {', '.join(step.batches)} again")
        for name in step.batches:
            batch = self._scenario.batches[name].at_most(self._client.batch_events_max)
            self._plan(batch, step.partition)
            self._client.send(batch, step.partition)
            if not self._is_raw:
                self._await_arrival(name)

    def _await_arrival(self, name: str) -> None:
        """Wait until the batch has come, so that the next one is a batch of its own.

        One that waits within the client for the answer to another has a moment only: the answer may never come.
        """
        delivery = [delivery for delivery in self._client.deliveries if delivery.batch == name][-1]
        sent = self._record.sent[name] = self._record.sent.get(name, 0) + 1
        if delivery.error != NO_ANSWER:
            return
        rule_id = self._record.arrivals[name]
        if self._client.is_pipelining:
            self._stage.await_hits(rule_id, sent)
        else:
            with suppress(StageFailed):
                self._stage.await_hits(rule_id, sent, ARRIVAL_MS)
        self._record.names.learn_arrived(name, self._stage.journal())

    def _plan(self, batch: Batch, partition: int) -> None:
        """Remember which batch has these sequences, if the client sends them so."""
        if self._is_raw:
            last_sequence = increment_sequence(batch.first_sequence, batch.count - 1)
            self._record.names.planned.setdefault((partition, batch.first_sequence, last_sequence), batch.name)

    def _stream(self, step: Stream) -> None:
        """Send batches at a steady rate; a raw client that has too many on its way waits for them first."""
        count = step.events_per_second * step.batch_ms // 1000
        started = time.monotonic()
        for number in range(step.for_ms // step.batch_ms):
            first = number * count
            batch = Batch(f"{STREAM}-{number + 1}", first, first + count - 1)
            self._record.streamed.extend(events_of(batch))
            self._record.names.planned[(0, first, first + count - 1)] = batch.name
            self._client.send(batch, 0)
            if self._is_raw and (number + 1) % IN_FLIGHT_MAX == 0:
                self._client.settle(retries=True)
            # Not to wait for anything: the rate of the events is what is asked for.
            time.sleep(max(0.0, started + (number + 1) * step.batch_ms / 1000 - time.monotonic()))
        self._client.settle(retries=True)

    def _arm(self, step: Arm) -> None:
        matches: list[dict[str, Any]] = [{"header": batch_header(name)} for name in step.batches] or [{}]
        for match in matches:
            rule = {
                "name": step.name,
                "match": {"api": "Produce", "topic": TOPIC, **match, **step.match},
                "when": step.when,
                "point": step.point,
                "action": step.action,
            }
            rule_id = self._stage.arm(rule)
            self._record.armed.setdefault(step.name, []).append(rule_id)
            self._record.rules[rule_id] = RuleInWords(step.name, step.point, str(step.action["kind"]))
        self._note("test", f"arms a rule: {step.name}")

    def _intrude(self, batch: Batch) -> None:
        last = self._last_batch()
        intrude(self._stage.bootstrap_servers, TOPIC, last, batch)
        self._record.names.learn_arrived(batch.name, self._stage.journal())
        text = f"somebody else writes {batch.name} as producer {last.producer_id}: {batch.count} records"
        self._note("test", text)

    def _last_batch(self) -> SeenBatch:
        return [batch for request in self._stage.journal() for batch in request.batches][-1]

    def _note(self, who: Who, text: str, *, changes: bool = False, releases: bool = False) -> None:
        """Write down what no request shows. changes: the broker remembers something else of producers than before."""
        requests = self._stage.journal()
        remembered = self._stage.remembered(TOPIC) if changes else None
        self._record.notes.append(Note(requests[-1].id if requests else 0, who, text, remembered, releases))


def batch_header(name: str) -> dict[str, Any]:
    """Return what matches the header of a batch's events."""
    return {"name": BATCH_HEADER, "value": {"text": name}}
