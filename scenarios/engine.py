"""Runs a scenario: has its steps done with a client against a broker, and compares what was seen with what must be."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from msgspec import Struct

from ..storage.producers.emulated_version import EmulatedVersion
from .clients.client import ClientOptions, ClientUnavailable, ScenarioClient
from .clients.clients import NamedClient, client_of
from .expectations import Check, Seen, check
from .performer import TOPIC, Cast, Performer
from .report.notes import Notes
from .report.stored_log import read_committed, read_log
from .report.timeline import Moment, build_timeline
from .scenario import RAW, Scenario, is_within
from .stages.stage import Stage, create_topic
from .stages.stages import open_stage

# How long a client waits for an answer before it sends again: short, as nothing here takes long unless it is lost.
RAW_REQUEST_MS = 400
REAL_REQUEST_MS = 700
# How long it tries at all; a scenario that needs its patience to end says less.
DELIVERY_MS = 20_000
# The APIs that a timeline shows; a client asks for metadata and versions as it likes.
SHOWN_APIS = ("Produce", "InitProducerId", "AddPartitionsToTxn", "EndTxn")


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
        report = _run_on(stage, scenario, client, version)
    finally:
        stage.close()
    report.instead_of = instead_of
    return report


def check_possible(scenario: Scenario, client: str, version: str) -> None:
    """Raise ClientUnavailable where the scenario says nothing about the version or the client."""
    if not is_within(scenario.versions, version):
        raise ClientUnavailable(f"{scenario.name} is about Kafka {scenario.versions}, not {version}")
    if not scenario.expected_of(client, version):
        raise ClientUnavailable(f"{scenario.name} says nothing about {client} and Kafka {version}")


def _run_on(stage: Stage, scenario: Scenario, named: NamedClient, version: EmulatedVersion) -> Report:
    notes = Notes(stage, TOPIC)
    options = _options(stage, scenario, named.name, notes)

    def start_producer(transactional_id: str) -> ScenarioClient:
        return named.make(replace(options, transactional_id=transactional_id))

    cast = Cast(scenario, named.name, named.make(options), stage, notes, start_producer)
    with closing(Performer(cast)) as performer:
        performer.perform()
    return _report(cast, performer, version)


def _options(stage: Stage, scenario: Scenario, name: str, notes: Notes) -> ClientOptions:
    return ClientOptions(
        bootstrap_servers=stage.bootstrap_servers,
        topic=TOPIC,
        is_idempotent=scenario.idempotent,
        request_ms=scenario.request_ms or (RAW_REQUEST_MS if name == RAW else REAL_REQUEST_MS),
        delivery_ms=scenario.delivery_ms or DELIVERY_MS,
        note=lambda text: notes.add("client", text),
        transactional_id=scenario.transactional_id,
    )


def _report(cast: Cast, performer: Performer, version: EmulatedVersion) -> Report:
    scenario, stage = cast.scenario, cast.stage
    stored = read_log(stage.bootstrap_servers, TOPIC, scenario.partitions)
    requests = [request for request in stage.journal() if request.api in SHOWN_APIS]
    performer.names.learn_stored(stored, requests)
    timeline = build_timeline(requests, cast.notes.items, performer.names, performer.rules, version.batches_retained)
    seen = Seen(
        client=cast.client_name,
        deliveries=performer.deliveries,
        decisions=_decisions(timeline),
        stored=stored,
        cached=_cached(timeline, stage),
        verdict=stage.verdict(TOPIC),
        streamed=performer.streamed,
        committed=read_committed(stage.bootstrap_servers, TOPIC, scenario.partitions),
        ends=performer.ends,
    )
    expected = scenario.expected_of(cast.client_name, version.name)
    checks = [each for expectation in expected for each in check(expectation, seen)]
    return Report(
        scenario=scenario.name,
        title=scenario.title,
        story=scenario.story.strip(),
        client=cast.client_name,
        as_version=version.name,
        passed=all(each.passed for each in checks),
        checks=checks,
        verdict=dict(seen.verdict),
        timeline=timeline,
    )


def _decisions(timeline: Sequence[Moment]) -> dict[str, list[Moment]]:
    """Return what became of each batch each time that it was sent, by its name."""
    decisions: dict[str, list[Moment]] = {}
    for moment in timeline:
        if moment.batch is not None and (moment.kind == "decision" or moment.lost):
            decisions.setdefault(moment.batch.name, []).append(moment)
    return decisions


def _cached(timeline: Sequence[Moment], stage: Stage) -> list[str]:
    """Return what the broker says that it remembers of the producer that wrote last, by name."""
    last = next((moment for moment in reversed(timeline) if moment.cached is not None and moment.batch), None)
    if last is None or last.batch is None:
        return []
    names = {(window.base_sequence, window.last_sequence): window.name for window in last.cached or []}
    remembered = stage.remembered(TOPIC).get((last.batch.partition, last.batch.producer_id), [])
    return [names.get(sequences, f"{sequences[0]}..{sequences[1]}") for sequences in remembered]
