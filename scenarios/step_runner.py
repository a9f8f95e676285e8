"""Runs the steps of a scenario with a client and a broker, and records what the report needs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, assert_never

from ..protocol.sequences import increment_sequence
from .brokers.scenario_broker import ScenarioBroker, alter_config
from .clients import foreign_producer
from .clients.client import (
    FIRST_PROCESS,
    NO_ANSWER,
    Delivery,
    ScenarioClient,
    TransactionalClient,
    client_id_of,
    events_of,
)
from .clients.consumer import ScenarioConsumer
from .clients.raw_client import RawClient
from .consumer_steps import ConsumerSteps
from .node_steps import NodeSteps
from .report.arrivals import Arrivals, batch_header
from .report.batch_names import BatchNames
from .report.journal_requests import JournalBatch
from .report.notes import Notes
from .report.timeline import NamedRule
from .scenario import Scenario
from .steps import (
    Adopt,
    Advance,
    AnyStep,
    Arm,
    AwaitHits,
    Batch,
    BeginTransaction,
    Commit,
    Consume,
    DeleteQuotas,
    EndTransaction,
    Evict,
    Forget,
    GiveUp,
    Grant,
    Intrude,
    Isolate,
    Kill,
    KillConsumer,
    Lift,
    MoveCoordinator,
    PauseReplication,
    Present,
    Process,
    RaiseEpoch,
    ReadError,
    Rejoin,
    Release,
    RestartProducer,
    ResumeReplication,
    Revoke,
    Send,
    SetConfig,
    SetQuota,
    Settle,
    StartConsumer,
    StartNode,
    StartProducer,
    StopConsumer,
    StopNode,
    Stream,
    Wait,
)

TOPIC = "events"
STREAM = "stream"
DAY_MS = 24 * 60 * 60 * 1000
# max.in.flight.requests.per.connection of an idempotent producer.
IN_FLIGHT_MAX = 5


@dataclass(frozen=True, slots=True)
class Processes:
    """Starts the processes of a run; the first argument is the name of the process.

    start_producer: the second argument is its transactional id. start_consumer: the second argument is its group.
    """

    start_producer: Callable[[str, str | None], ScenarioClient]
    start_consumer: Callable[[str, str | None], ScenarioConsumer]


@dataclass(frozen=True, slots=True)
class RunContext:
    """The scenario, client and broker of a run."""

    scenario: Scenario
    client_name: str
    client: ScenarioClient
    broker: ScenarioBroker
    notes: Notes
    processes: Processes


class StepRunner:
    """One run of a scenario's steps.

    names: of the batches. rules: the armed rules, by id. streamed: the events of a stream, in order.
    ends: the results of ended transactions. consumers: those of the run.
    """

    def __init__(self, context: RunContext) -> None:
        """Arm the rules that count the arrivals of batches."""
        self.names = BatchNames()
        self.rules: dict[int, NamedRule] = {}
        self.streamed: list[str] = []
        self.ends: list[str] = []
        # By their names in the scenario; "" is the first producer.
        self._producers: dict[str, ScenarioClient] = {"": context.client}
        # The batches of each producer since its last settle step, and the last request in the journal at that step.
        self._unsettled: dict[str, list[str]] = {}
        self._settled_ids: dict[str, int] = {}
        self._scenario = context.scenario
        self._client = context.client
        self._broker = context.broker
        self._notes = context.notes
        # How often the process of the first producer has started.
        self._starts = 1
        self._processes = context.processes
        self.consumers = ConsumerSteps(
            context.broker, context.notes, TOPIC, context.scenario.batches, context.processes.start_consumer
        )
        self._node_steps = NodeSteps(context.broker, context.notes, TOPIC)
        self._steps = context.scenario.steps_for(context.client_name)
        self._armed: dict[str, list[int]] = {}
        sent = [name for step in self._steps if isinstance(step, Send) for name in step.batches]
        self._arrivals = Arrivals(self._broker, TOPIC, sent)

    def run(self) -> None:
        """Run all steps. Raises ClientStuck and BrokerFailed."""
        for step in self._steps:
            if step.says:
                self._notes.add("test", step.says)
            self._run_step(step)

    def _run_step(self, step: AnyStep) -> None:
        match step:
            case Send() | Stream() | Settle() | GiveUp() | RestartProducer() | RaiseEpoch() | Adopt():
                self._run_client_step(step)
            case StartProducer() | BeginTransaction() | EndTransaction():
                self._run_transaction_step(step)
            case StartConsumer() | Consume() | Process() | Commit() | StopConsumer() | KillConsumer() | ReadError():
                self.consumers.run(step)
            case Arm() | AwaitHits() | Lift() | Release():
                self._run_rule_step(step)
            case Advance() | Evict() | Forget() | Intrude() | Kill():
                self._run_broker_step(step)
            case SetConfig() | SetQuota() | DeleteQuotas() | Grant() | Revoke() | Present() | Wait():
                self._run_settings_step(step)
            case (
                StopNode()
                | StartNode()
                | Isolate()
                | Rejoin()
                | PauseReplication()
                | ResumeReplication()
                | MoveCoordinator()
            ):
                self._node_steps.run(step)
            case _:
                assert_never(step)

    # -- the client

    def _run_client_step(self, step: Send | Stream | Settle | GiveUp | RestartProducer | RaiseEpoch | Adopt) -> None:
        match step:
            case Send():
                self._send(step)
            case Stream():
                self._stream(step)
            case Settle(retries=retries, by=by):
                self._producers[by].settle(retries=retries)
                self._name_sent_alone(by)
            case GiveUp():
                self._client.give_up()
            case RestartProducer():
                self._notes.add("client", "the process ends", self._client_id)
                self._client.restart()
                self._starts += 1
                self._notes.add("client", "the process starts again", self._client_id)
            case RaiseEpoch():
                self._raw.raise_epoch()
            case Adopt(producer_id=producer_id, producer_epoch=producer_epoch):
                self._raw.adopt(producer_id, producer_epoch)
            case _:
                assert_never(step)

    def _run_transaction_step(self, step: StartProducer | BeginTransaction | EndTransaction) -> None:
        match step:
            case StartProducer(by=by, transactional_id=transactional_id):
                name = "" if transactional_id is None else f" with transactional id {transactional_id}"
                self._notes.add("client", f"starts{name}", by)
                self._producers[by] = self._processes.start_producer(by, transactional_id)
            case BeginTransaction(by=by):
                self._transactional(by).begin_transaction()
            case EndTransaction(by=by, commit=commit):
                self.ends.append(self._transactional(by).end_transaction(commit=commit))
            case _:
                assert_never(step)

    def _transactional(self, by: str) -> TransactionalClient:
        producer = self._producers[by]
        assert isinstance(producer, TransactionalClient), "the client does not support transactions"
        return producer

    @property
    def deliveries(self) -> list[Delivery]:
        """The delivery reports of all producers."""
        return [delivery for producer in self._producers.values() for delivery in producer.deliveries]

    def close(self) -> None:
        """Close all producers and consumers."""
        for producer in self._producers.values():
            producer.close()
        self.consumers.close()

    @property
    def _client_id(self) -> str:
        """The client id of the first producer."""
        return client_id_of(FIRST_PROCESS, self._starts)

    @property
    def _raw(self) -> RawClient:
        assert isinstance(self._client, RawClient), "only the raw client can set its producer id and epoch"
        return self._client

    def _send(self, step: Send) -> None:
        if step.again:
            self._notes.add(
                "client", f"the application sends {', '.join(step.batches)} again", step.by or self._client_id
            )
        client = self._producers[step.by]
        self._unsettled.setdefault(step.by, []).extend(step.batches)
        for name in step.batches:
            most = client.batch_events_max if self._scenario.in_flight else None
            batch = self._scenario.batches[name].at_most(most)
            client.send(batch, step.partition)
            if isinstance(client, RawClient):
                self._plan(batch, step.partition)
            elif client.deliveries[-1].error == NO_ANSWER:
                # The next events must not join this batch.
                self._arrivals.await_batch(name, waits_in_client=not client.is_pipelining)
                self.names.add_arrived(name, self._broker.journal())

    def _name_sent_alone(self, by: str) -> None:
        """Name the requests since the last settle step if all of them have the same batch.

        After a failover, the offset of a batch may be that of another one.
        """
        names, requests = self._unsettled.pop(by, []), self._broker.journal()
        new = [request for request in requests if request.id > self._settled_ids.get(by, 0)]
        if len(names) == 1:
            self.names.add_sent_alone(names[0], by or self._client_id, new)
        if new:
            self._settled_ids[by] = new[-1].id

    def _plan(self, batch: Batch, partition: int) -> None:
        """Record the name of a batch by its sequences."""
        last_sequence = increment_sequence(batch.first_sequence, batch.count - 1)
        self.names.planned.setdefault((partition, batch.first_sequence, last_sequence), batch.name)

    def _stream(self, step: Stream) -> None:
        """Send batches at a steady rate; the raw client waits when it has too many requests in flight."""
        count = step.events_per_second * step.batch_ms // 1000
        started = time.monotonic()
        for number in range(step.for_ms // step.batch_ms):
            batch = Batch(f"{STREAM}-{number + 1}", number * count, (number + 1) * count - 1)
            self.streamed.extend(events_of(batch))
            self._plan(batch, 0)
            self._client.send(batch, 0)
            if isinstance(self._client, RawClient) and (number + 1) % IN_FLIGHT_MAX == 0:
                self._client.settle(retries=True)
            # Keeps the rate; it does not wait for an event.
            time.sleep(max(0.0, started + (number + 1) * step.batch_ms / 1000 - time.monotonic()))
        self._client.settle(retries=True)

    # -- rules

    def _run_rule_step(self, step: Arm | AwaitHits | Lift | Release) -> None:
        match step:
            case Arm():
                self._arm(step)
            case AwaitHits(rule=name, hits=hits):
                for rule_id in self._armed[name]:
                    self._broker.await_hits(rule_id, hits)
            case Lift(rule=name):
                for rule_id in self._armed[name]:
                    self._broker.remove_rule(rule_id)
            case Release():
                self._notes.add_release("releases the held requests")
                self._broker.release_held()
            case _:
                assert_never(step)

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
            rule_id = self._broker.arm(rule)
            self._armed.setdefault(step.name, []).append(rule_id)
            self.rules[rule_id] = NamedRule(step.name, step.point, str(step.action["kind"]))
        self._notes.add("test", f"arms a rule: {step.name}")

    # -- the broker

    def _run_settings_step(self, step: SetConfig | SetQuota | DeleteQuotas | Grant | Revoke | Present | Wait) -> None:
        match step:
            case SetConfig(key=key, value=value):
                alter_config(self._broker.bootstrap_servers, key, value)
                self._notes.add("test", f"sets {key}={value}")
            case SetQuota(key=key, value=value):
                self._broker.set_quota(self._client_id, key, value)
                self._notes.add("test", f"sets a quota of {self._client_id}: {key} {value:g}")
            case DeleteQuotas():
                self._broker.delete_quotas()
                self._notes.add("test", "deletes the quotas")
            case Grant(operation=operation):
                self._broker.grant(operation, TOPIC)
                self._notes.add("broker", f"the user may {operation} {TOPIC}")
            case Revoke(operation=operation):
                self._broker.revoke(operation, TOPIC)
                self._notes.add("broker", f"the user may not {operation} {TOPIC}")
            case Present(certificate=kind):
                self._broker.present(kind)
                self._notes.add("broker", f"presents the certificate {kind} in new handshakes")
            case Wait(ms=ms):
                time.sleep(ms / 1000)
            case _:
                assert_never(step)

    def _run_broker_step(self, step: Advance | Evict | Forget | Intrude | Kill) -> None:
        match step:
            case Advance(ms=ms, members=members):
                self._broker.advance(ms, members)
                duration = f"{ms / DAY_MS:g} days" if ms >= DAY_MS else f"{ms / 1000:g} s"
                self._notes.add_change(f"its clock advances by {duration}{self._node_steps.leader_text()}")
            case Evict(partition=partition):
                producer_id = self._last_batch().producer_id
                self._broker.evict_cache(TOPIC, partition, producer_id)
                self._notes.add_change(f"drops the cached batches of producer {producer_id}")
            case Forget(partition=partition):
                producer_id = self._last_batch().producer_id
                self._broker.forget_producer(TOPIC, partition, producer_id)
                self._notes.add_change(f"removes the state of producer {producer_id}")
            case Intrude(batch=name):
                self._intrude(self._scenario.batches[name])
            case Kill(torn_bytes=torn_bytes):
                self._broker.kill(TOPIC, torn_bytes)
                text = f"is killed, with {torn_bytes} bytes of a torn batch in its log; restarts on the same folder"
                self._notes.add_change(text)
                self._arrivals.arm_rules()
            case _:
                assert_never(step)

    def _intrude(self, batch: Batch) -> None:
        last = self._last_batch()
        self._notes.add("client", f"writes {batch.name} as producer {last.producer_id}", foreign_producer.PROCESS)
        foreign_producer.produce_as(self._broker.bootstrap_servers, TOPIC, last, batch)
        self.names.add_arrived(batch.name, self._broker.journal())

    def _last_batch(self) -> JournalBatch:
        return [batch for request in self._broker.journal() for batch in request.batches][-1]
