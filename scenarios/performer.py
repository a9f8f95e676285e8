"""Does the steps of a scenario with a client and a broker, and keeps what is needed to tell of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, assert_never

from ..protocol.sequences import increment_sequence
from .clients.client import NO_ANSWER, Delivery, ScenarioClient, TransactionalClient, events_of
from .clients.intruder import intrude
from .clients.raw_client import RawClient
from .report.arrivals import Arrivals, batch_header
from .report.batch_names import BatchNames
from .report.notes import Notes
from .report.seen_requests import SeenBatch
from .report.timeline import RuleInWords
from .scenario import (
    Adopt,
    Advance,
    AnyStep,
    Arm,
    AwaitHits,
    Batch,
    BeginTransaction,
    EndTransaction,
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
    StartProducer,
    Stream,
)
from .stages.stage import Stage

TOPIC = "events"
STREAM = "stream"
DAY_MS = 24 * 60 * 60 * 1000
# What an idempotent producer may have on its way.
IN_FLIGHT_MAX = 5


@dataclass(frozen=True, slots=True)
class Cast:
    """Who takes part. start_producer: returns another producer, with that transactional id."""

    scenario: Scenario
    client_name: str
    client: ScenarioClient
    stage: Stage
    notes: Notes
    start_producer: Callable[[str], ScenarioClient]


class Performer:
    """One run of a scenario's steps.

    names: of the batches. rules: those that were armed, by their ids. streamed: the events of a stream, in order.
    ends: what producers were told of the ends of their transactions.
    """

    def __init__(self, cast: Cast) -> None:
        """cast: whom the steps are done with."""
        self.names = BatchNames()
        self.rules: dict[int, RuleInWords] = {}
        self.streamed: list[str] = []
        self.ends: list[str] = []
        # By what the scenario calls them; "" is the one that it begins with.
        self._producers: dict[str, ScenarioClient] = {"": cast.client}
        self._scenario = cast.scenario
        self._client = cast.client
        self._stage = cast.stage
        self._notes = cast.notes
        self._start_producer = cast.start_producer
        self._steps = cast.scenario.steps_for(cast.client_name)
        self._armed: dict[str, list[int]] = {}
        sent = [name for step in self._steps if isinstance(step, Send) for name in step.batches]
        self._arrivals = Arrivals(self._stage, TOPIC, sent)

    def perform(self) -> None:
        """Do all steps. Raises ClientStuck and StageFailed."""
        for step in self._steps:
            if step.says:
                self._notes.add("test", step.says)
            self._do(step)

    def _do(self, step: AnyStep) -> None:
        match step:
            case Send() | Stream() | Settle() | GiveUp() | RestartProducer() | RaiseEpoch() | Adopt():
                self._do_with_client(step)
            case StartProducer() | BeginTransaction() | EndTransaction():
                self._do_with_transactions(step)
            case Arm() | AwaitHits() | Lift() | Release():
                self._do_with_rules(step)
            case Advance() | Evict() | Forget() | Intrude() | Kill():
                self._do_to_broker(step)
            case _:
                assert_never(step)

    # -- the client

    def _do_with_client(self, step: Send | Stream | Settle | GiveUp | RestartProducer | RaiseEpoch | Adopt) -> None:
        match step:
            case Send():
                self._send(step)
            case Stream():
                self._stream(step)
            case Settle(retries=retries, by=by):
                self._producers[by].settle(retries=retries)
            case GiveUp():
                self._client.give_up()
            case RestartProducer():
                self._notes.add("client", "the process ends; a new one begins")
                self._client.restart()
            case RaiseEpoch():
                self._raw.raise_epoch()
            case Adopt(producer_id=producer_id, producer_epoch=producer_epoch):
                self._raw.adopt(producer_id, producer_epoch)
            case _:
                assert_never(step)

    def _do_with_transactions(self, step: StartProducer | BeginTransaction | EndTransaction) -> None:
        match step:
            case StartProducer(by=by, transactional_id=transactional_id):
                self._notes.add("client", f"another process begins, with the transactional id {transactional_id}: {by}")
                self._producers[by] = self._start_producer(transactional_id)
            case BeginTransaction(by=by):
                self._transactional(by).begin_transaction()
            case EndTransaction(by=by, commit=commit):
                self.ends.append(self._transactional(by).end_transaction(commit=commit))
            case _:
                assert_never(step)

    def _transactional(self, by: str) -> TransactionalClient:
        producer = self._producers[by]
        assert isinstance(producer, TransactionalClient), "the client has no transactions"
        return producer

    @property
    def deliveries(self) -> list[Delivery]:
        """What the application was told of each batch, by all of its producers."""
        return [delivery for producer in self._producers.values() for delivery in producer.deliveries]

    def close(self) -> None:
        """End all producers."""
        for producer in self._producers.values():
            producer.close()

    @property
    def _raw(self) -> RawClient:
        assert isinstance(self._client, RawClient), "only the raw client chooses its producer id and epoch"
        return self._client

    def _send(self, step: Send) -> None:
        if step.again:
            self._notes.add("client", f"the application sends {', '.join(step.batches)} again")
        client = self._producers[step.by]
        for name in step.batches:
            most = client.batch_events_max if self._scenario.in_flight else None
            batch = self._scenario.batches[name].at_most(most)
            client.send(batch, step.partition)
            if isinstance(client, RawClient):
                self._plan(batch, step.partition)
            elif client.deliveries[-1].error == NO_ANSWER:
                # The next one is to be a batch of its own.
                self._arrivals.await_batch(name, waits_in_client=not client.is_pipelining)
                self.names.learn_arrived(name, self._stage.journal())

    def _plan(self, batch: Batch, partition: int) -> None:
        """Remember which batch has these sequences."""
        last_sequence = increment_sequence(batch.first_sequence, batch.count - 1)
        self.names.planned.setdefault((partition, batch.first_sequence, last_sequence), batch.name)

    def _stream(self, step: Stream) -> None:
        """Send batches at a steady rate; a raw client that has too many on its way waits for them first."""
        count = step.events_per_second * step.batch_ms // 1000
        started = time.monotonic()
        for number in range(step.for_ms // step.batch_ms):
            batch = Batch(f"{STREAM}-{number + 1}", number * count, (number + 1) * count - 1)
            self.streamed.extend(events_of(batch))
            self._plan(batch, 0)
            self._client.send(batch, 0)
            if isinstance(self._client, RawClient) and (number + 1) % IN_FLIGHT_MAX == 0:
                self._client.settle(retries=True)
            # Not to wait for anything: the rate of the events is what is asked for.
            time.sleep(max(0.0, started + (number + 1) * step.batch_ms / 1000 - time.monotonic()))
        self._client.settle(retries=True)

    # -- rules

    def _do_with_rules(self, step: Arm | AwaitHits | Lift | Release) -> None:
        match step:
            case Arm():
                self._arm(step)
            case AwaitHits(rule=name, hits=hits):
                for rule_id in self._armed[name]:
                    self._stage.await_hits(rule_id, hits)
            case Lift(rule=name):
                for rule_id in self._armed[name]:
                    self._stage.lift(rule_id)
            case Release():
                self._notes.add_release("goes on with what it held")
                self._stage.release_held()
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
            rule_id = self._stage.arm(rule)
            self._armed.setdefault(step.name, []).append(rule_id)
            self.rules[rule_id] = RuleInWords(step.name, step.point, str(step.action["kind"]))
        self._notes.add("test", f"arms a rule: {step.name}")

    # -- the broker

    def _do_to_broker(self, step: Advance | Evict | Forget | Intrude | Kill) -> None:
        match step:
            case Advance(ms=ms):
                self._stage.advance(ms)
                self._notes.add_change(f"its clock goes forward by {ms / DAY_MS:g} days")
            case Evict(partition=partition):
                producer_id = self._last_batch().producer_id
                self._stage.evict_cache(TOPIC, partition, producer_id)
                self._notes.add_change(f"forgets the cached batches of producer {producer_id}")
            case Forget(partition=partition):
                producer_id = self._last_batch().producer_id
                self._stage.forget_producer(TOPIC, partition, producer_id)
                self._notes.add_change(f"forgets producer {producer_id}")
            case Intrude(batch=name):
                self._intrude(self._scenario.batches[name])
            case Kill(torn_bytes=torn_bytes):
                self._stage.kill(TOPIC, torn_bytes)
                text = f"is killed, and leaves {torn_bytes} bytes of a batch behind; starts again on the same folder"
                self._notes.add_change(text)
                self._arrivals.begin()
            case _:
                assert_never(step)

    def _intrude(self, batch: Batch) -> None:
        last = self._last_batch()
        self._notes.add_stranger(f"somebody else writes {batch.name} as producer {last.producer_id}")
        intrude(self._stage.bootstrap_servers, TOPIC, last, batch)
        self.names.learn_arrived(batch.name, self._stage.journal())

    def _last_batch(self) -> SeenBatch:
        return [batch for request in self._stage.journal() for batch in request.batches][-1]
