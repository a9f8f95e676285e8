"""Drawn batches, answers that are lost or lie, requests that are kept back, crashes: the verdict tells the truth."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.faults.actions import Action, Drop, Error, Hold
from fauxka.faults.fault import Fault
from fauxka.faults.journal.journal_record import PENDING, RESPONDED
from fauxka.protocol.error_codes import ErrorCode
from fauxka.storage.append_result import AppendResult

from ..faults.journal_scene import NOW_MS, TOPIC, Batch, FakeRequest, JournalScene
from ..run_counts import examples
from .verdict_model import Arrival, Copy, VerdictModel

NO_PRODUCER = -1
PRODUCERS = [4000, NO_PRODUCER]


@dataclass(frozen=True)
class Step:
    """What happens next: a batch is sent, kept back or sent again; the answer; a release, a crash.

    pick: which of several, where there is a choice.
    """

    kind: str
    producer: int
    connection: int
    answer: str
    count: int
    pick: int


steps = st.builds(
    Step,
    kind=st.sampled_from(
        ["new"] * 5 + ["retry"] * 7 + ["bump", "drop", "refuse", "hold", "hold", "release", "release", "gap", "crash"]
    ),
    producer=st.sampled_from(PRODUCERS),
    connection=st.integers(1, 2),
    answer=st.sampled_from(["told", "later", "lost", "lost", "lie", "waits"]),
    count=st.integers(1, 3),
    pick=st.integers(0, 3),
)


@dataclass
class Held:
    """A request that is held, and the arrival that the model knows it by."""

    request: FakeRequest
    request_id: int
    name: int
    arrival: Arrival


@dataclass
class Waiting:
    request_id: int
    copy: Copy


class Run:
    """The clients of one partition: what they do by the scene, and what the model then knows."""

    def __init__(self) -> None:
        self.scene = JournalScene(partitions=1, capacity=5)
        self.model = VerdictModel()
        self.batches: dict[int, Batch] = {}
        self.epochs = dict.fromkeys(PRODUCERS, 0)
        self.next_sequences = dict.fromkeys(PRODUCERS, 0)
        self.held: list[Held] = []
        self.waiting: list[Waiting] = []
        self.connections = 0

    # -- batches

    def new_batch(self, step: Step) -> int:
        """Return the name of a batch that the producer has not sent before."""
        name = len(self.batches)
        values = tuple(f"{name}-{index}" for index in range(step.count))
        self.batches[name] = self.in_sequence(step.producer, Batch(values=values, timestamp=NOW_MS + 10 * name))
        return name

    def in_sequence(self, producer: int, batch: Batch) -> Batch:
        if producer == NO_PRODUCER:
            return replace(batch, producer_id=-1, producer_epoch=-1, base_sequence=-1)
        first = self.next_sequences[producer]
        self.next_sequences[producer] += len(batch.values)
        return replace(batch, producer_id=producer, producer_epoch=self.epochs[producer], base_sequence=first)

    def pick_untold(self, step: Step) -> int | None:
        """Return a batch of the producer of which it was not told that it is there."""
        untold = [
            name
            for name, batch in self.batches.items()
            if batch.producer_id == step.producer and not any(copy.told for copy in self.model.copies.get(name, []))
        ]
        return untold[step.pick % len(untold)] if untold else None

    # -- steps

    def do(self, step: Step) -> None:
        if step.kind == "new":
            self.send(self.new_batch(step), step)
        elif step.kind in ("drop", "refuse", "hold"):
            self.withhold(self.new_batch(step), step)
        elif step.kind == "gap" and step.producer != NO_PRODUCER:
            self.next_sequences[step.producer] += 1
        elif step.kind in ("retry", "bump"):
            name = self.pick_untold(step)
            if name is not None:
                if step.kind == "bump" and step.producer != NO_PRODUCER:
                    self.bump(name, step.producer)
                self.send(name, step)
        elif step.kind == "release" and self.held:
            self.release(self.held.pop(step.pick % len(self.held)), step)
        elif step.kind == "crash":
            self.crash(step)

    def bump(self, name: int, producer: int) -> None:
        """Give the batch the first sequences of a new epoch."""
        self.epochs[producer] += 1
        self.next_sequences[producer] = 0
        self.batches[name] = self.in_sequence(producer, self.batches[name])

    def connection(self, step: Step) -> int:
        return self.connections + step.connection

    def send(self, name: int, step: Step) -> None:
        self.give_up_waiting(name)
        connection = self.connection(step)
        request = self.scene.apply(self.scene.new_request(self.batches[name], connection=connection))
        state = RESPONDED if step.answer in ("told", "lost") else PENDING
        request_id = self.scene.journal.handled(request, 200, state)
        self.decided(name, request, request_id, step)

    def decided(
        self, name: int, request: FakeRequest, request_id: int, step: Step, arrival: Arrival | None = None
    ) -> None:
        assert request.batches is not None
        decision = request.batches[0][2]
        copy = None
        if not isinstance(decision, AppendResult):
            self.model.refused += 1
        elif decision.is_duplicate:
            copy = self.model.recognised(name, decision.base_offset)
        else:
            if arrival is not None:
                arrival.own_offset = decision.base_offset
            copy = self.model.appended(
                name,
                decision.base_offset,
                decision.records_count,
                connection=request.connection.connection_id,
                producer=decision.producer_id,
            )
        self.answer(request_id, copy, step.answer)

    def answer(self, request_id: int, copy: Copy | None, answer: str) -> None:
        journal = self.scene.journal
        if answer == "lost":
            journal.unanswered(request_id)
        elif answer == "lie":
            journal.response_replaced(request_id, frozenset(), int(ErrorCode.REQUEST_TIMED_OUT))
            journal.answered(request_id)
        elif answer == "waits":
            if copy is not None:
                self.waiting.append(Waiting(request_id, copy))
        else:
            if answer == "later":
                journal.answered(request_id)
            if copy is not None:
                copy.told = True

    def give_up_waiting(self, name: int) -> None:
        """Close the connections on which a client waits for the answer to a batch, before it sends that again."""
        for waiting in [each for each in self.waiting if each.copy in self.model.copies.get(name, [])]:
            self.scene.journal.unanswered(waiting.request_id)
            self.waiting.remove(waiting)

    def withhold(self, name: int, step: Step) -> None:
        connection = self.connection(step)
        request = self.scene.new_request(self.batches[name], connection=connection)
        actions: dict[str, Action] = {"drop": Drop(), "refuse": Error(error=6), "hold": Hold()}
        request_id = self.scene.journal.not_applied(request, Fault(rule_id=1, action=actions[step.kind]))
        arrival = Arrival(name, connection, self.batches[name].producer_id, self.scene.logs[0].log_end_offset)
        self.model.arrivals.append(arrival)
        if step.kind == "hold":
            self.held.append(Held(request, request_id, name, arrival))

    def release(self, held: Held, step: Step) -> None:
        state = RESPONDED if step.answer in ("told", "lost") else PENDING
        self.scene.journal.applied_later(held.request_id, self.scene.apply(held.request), 200, state)
        self.decided(held.name, held.request, held.request_id, step, held.arrival)

    def crash(self, step: Step) -> None:
        """Lose the newest batches, and every connection."""
        for waiting in self.waiting:
            self.scene.journal.unanswered(waiting.request_id)
        self.waiting.clear()
        self.held.clear()
        self.connections += 2
        places = sorted(copy.offset for copies in self.model.copies.values() for copy in copies)
        if places:
            log_end = places[-1 - step.pick % min(4, len(places))]
            self.scene.truncate(0, to_offset=log_end)
            self.model.crashed(log_end)

    def check(self) -> None:
        for event_id in (None, "key", "header:event"):
            verdict = self.scene.verdict(event_id)
            found = {name: getattr(verdict.batches, name) for name in verdict.batches.__struct_fields__}
            assert found == self.model.expected(), event_id
            assert verdict.records.in_log == self.scene.logs[0].log_end_offset
            assert verdict.records.duplicates == self.model.expected_duplicates()
            assert all(finding.why for finding in verdict.findings)


@given(st.lists(steps, min_size=1, max_size=40) | st.lists(steps, min_size=30, max_size=50))
@settings(derandomize=True, max_examples=examples(200), deadline=None)
def test_verdict_agrees_with_the_log(drawn: list[Step]) -> None:
    run = Run()

    for step in drawn:
        run.do(step)
    run.check()


def test_topic_of_the_scene_is_the_one_that_is_judged() -> None:
    assert Run().scene.verdict().topic == TOPIC
