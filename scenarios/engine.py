"""Runs a scenario with a client on its own broker, and compares the result with the expectations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from msgspec import Struct

from ..storage.producers.emulated_version import EmulatedVersion
from .brokers.cluster_broker import start_in_process
from .brokers.process_broker import ProcessBroker
from .brokers.scenario_broker import ScenarioBroker, create_topic
from .brokers.secured_broker import SecuredBroker
from .clients.client import FIRST_PROCESS, ClientOptions, ClientUnavailable, ScenarioClient
from .clients.clients import NamedClient
from .clients.consumer import ConsumerOptions, ScenarioConsumer
from .expectations import Check, RunResult, check
from .report.consumer_requests import in_order_of_delivery, is_shown
from .report.journal_requests import JournalRequest
from .report.notes import Notes
from .report.stored_log import READ_COMMITTED, read_log
from .report.timeline import Moment, build_timeline, process_of
from .scenario import RAW, Scenario, is_within
from .step_runner import TOPIC, Processes, RunContext, StepRunner

# The request timeouts of the clients. They are short, because the clients wait that long for a lost response.
RAW_REQUEST_MS = 400
REAL_REQUEST_MS = 700
# The delivery timeout; a scenario in which it must expire sets a shorter one.
DELIVERY_MS = 20_000
HANDSHAKE = "SaslHandshake"
# The APIs in a timeline; requests for metadata and versions differ by client.
SHOWN_APIS = ("Produce", "InitProducerId", "AddPartitionsToTxn", "EndTxn")


class Report(Struct, kw_only=True):
    """The report of a run. verdict: on the topic. groups: the verdicts on the groups of the consumers."""

    scenario: str
    title: str
    story: str
    client: str
    as_version: str
    passed: bool
    checks: list[Check]
    verdict: dict[str, Any]
    groups: list[dict[str, Any]] = []
    timeline: list[Moment]


def run(scenario: Scenario, client: NamedClient, as_version: str | None = None) -> Report:
    """Run a scenario on its own broker.

    Raises ClientUnavailable if client or version do not fit, ClientStuck or BrokerFailed if the run did not finish,
    and ValueError for an unsupported version.
    """
    version = EmulatedVersion.parse(as_version) if as_version else EmulatedVersion.latest()
    check_possible(scenario, client.name, version.name)
    broker = _start_broker(scenario, version)
    try:
        create_topic(broker.bootstrap_servers, TOPIC, scenario.partitions, scenario.topic_config)
        for operation in scenario.allowed:
            broker.grant(operation, TOPIC)
        return _run_on(broker, scenario, client, version)
    finally:
        broker.close()


def _start_broker(scenario: Scenario, version: EmulatedVersion) -> ScenarioBroker:
    if scenario.tls:
        return SecuredBroker(version.name)
    if scenario.on_disk:
        return ProcessBroker(version.name)
    if scenario.login is not None:
        return SecuredBroker(version.name, scenario.login, scenario.broker_config, scenario.token_ms)
    return start_in_process(version.name, scenario.nodes)


def check_possible(scenario: Scenario, client: str, version: str) -> None:
    """Raise ClientUnavailable if the client cannot run the scenario, or if it has no expectations for the version."""
    if client in scenario.unable:
        raise ClientUnavailable(f"{scenario.name} does not run with {client}: {scenario.unable[client]}")
    if not is_within(scenario.versions, version):
        raise ClientUnavailable(f"{scenario.name} is about Kafka {scenario.versions}, not {version}")
    if not scenario.expected_of(client, version):
        raise ClientUnavailable(f"{scenario.name} has no expectations for {client} and Kafka {version}")


def _run_on(broker: ScenarioBroker, scenario: Scenario, named: NamedClient, version: EmulatedVersion) -> Report:
    notes = Notes(broker, TOPIC)
    options = _options(broker, scenario, named.name, notes)

    def start_producer(process: str, transactional_id: str | None) -> ScenarioClient:
        other = replace(options, transactional_id=transactional_id, process=process, is_idempotent=True, acks="all")
        return named.make(other)

    def start_consumer(process: str, group: str | None) -> ScenarioConsumer:
        def add_note(text: str) -> None:
            notes.add("client", text, process)

        return named.make_consumer(
            ConsumerOptions(broker.client_servers, TOPIC, process, group, add_note, broker.login)
        )

    context = RunContext(
        scenario, named.name, named.make(options), broker, notes, Processes(start_producer, start_consumer)
    )
    with closing(StepRunner(context)) as runner:
        runner.run()
    return _report(context, runner, version)


def _options(broker: ScenarioBroker, scenario: Scenario, name: str, notes: Notes) -> ClientOptions:
    return ClientOptions(
        bootstrap_servers=broker.client_servers,
        ca=broker.ca,
        topic=TOPIC,
        is_idempotent=scenario.idempotent,
        confirms_loss=scenario.request_ms is None,
        request_ms=scenario.request_ms or (RAW_REQUEST_MS if name == RAW else REAL_REQUEST_MS),
        delivery_ms=scenario.delivery_ms or DELIVERY_MS,
        add_note=lambda process, text: notes.add("client", text, process),
        acks=scenario.acks,
        transactional_id=scenario.transactional_id,
        login=broker.login,
    )


def _report(context: RunContext, runner: StepRunner, version: EmulatedVersion) -> Report:
    scenario, broker = context.scenario, context.broker
    stored = read_log(broker.bootstrap_servers, TOPIC, scenario.partitions)
    journal = broker.journal()
    consumers = runner.consumers
    requests = in_order_of_delivery(
        request for request in journal if request.api in SHOWN_APIS or is_shown(request, consumers.consumers)
    )
    runner.names.add_stored(stored, requests)
    timeline = build_timeline(requests, context.notes.items, runner.names, runner.rules, version.batches_retained)
    seen = RunResult(
        client=context.client_name,
        deliveries=runner.deliveries,
        decisions=_decisions(timeline),
        stored=stored,
        cached=_cached(timeline, broker),
        verdict=broker.verdict(TOPIC),
        groups={group: broker.group_verdict(group) for group in dict.fromkeys(consumers.groups.values())},
        streamed=runner.streamed,
        committed=read_log(broker.bootstrap_servers, TOPIC, scenario.partitions, isolation_level=READ_COMMITTED),
        ends=runner.ends,
        consumers=consumers.consumers,
        errors=consumers.errors,
        authenticates_again=_authenticates_again(journal),
        received_ms=_received_ms(timeline),
    )
    expected = scenario.expected_of(context.client_name, version.name)
    checks = [each for expectation in expected for each in check(expectation, seen)]
    return Report(
        scenario=scenario.name,
        title=scenario.title,
        story=scenario.story.strip(),
        client=context.client_name,
        as_version=version.name,
        passed=all(each.passed for each in checks),
        checks=checks,
        verdict=dict(seen.verdict),
        groups=[dict(each) for each in seen.groups.values()],
        timeline=timeline,
    )


def _authenticates_again(journal: Sequence[JournalRequest]) -> bool:
    """Return whether a connection of the first producer has authenticated more than once."""
    handshakes = Counter(
        request.connection for request in journal if request.api == HANDSHAKE and process_of(request) == FIRST_PROCESS
    )
    return any(count > 1 for count in handshakes.values())


def _decisions(timeline: Sequence[Moment]) -> dict[str, list[Moment]]:
    """Return the decisions about each batch, one per attempt, by batch name."""
    decisions: dict[str, list[Moment]] = {}
    for moment in timeline:
        if moment.batch is not None and (moment.kind == "decision" or moment.lost):
            decisions.setdefault(moment.batch.name, []).append(moment)
    return decisions


def _received_ms(timeline: Sequence[Moment]) -> dict[str, int]:
    """Return when the first request of each batch arrived, by batch name."""
    received: dict[str, int] = {}
    for moment in timeline:
        if moment.kind == "request" and moment.batch is not None and moment.at_ms is not None:
            received.setdefault(moment.batch.name, moment.at_ms)
    return received


def _cached(timeline: Sequence[Moment], broker: ScenarioBroker) -> list[str]:
    """Return the names of the broker's cached batches of the last producer."""
    last = next((moment for moment in reversed(timeline) if moment.cached is not None and moment.batch), None)
    if last is None or last.batch is None:
        return []
    names = {(window.base_sequence, window.last_sequence): window.name for window in last.cached or []}
    cached = broker.cached_sequences(TOPIC).get((last.batch.partition, last.batch.producer_id), [])
    return [names.get(sequences, f"{sequences[0]}..{sequences[1]}") for sequences in cached]
