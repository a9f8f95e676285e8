"""An application that copies events from one topic to another with planted faults, and knows what it did to each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from fauxka.faults.consumption.delivered_spans import Span
from fauxka.faults.consumption.facts import Cause, Fact, Kind
from fauxka.faults.consumption.group_history import GroupHistory
from fauxka.faults.flow.flow_events import FlowRecord, Place

FROM_TOPIC, TO_TOPIC, GROUP = "orders", "invoices", "billing"
# Kind, cause and event.
Truth = tuple[str, str, str]


@dataclass(eq=False, slots=True)
class Event:
    """An event. inputs, outputs: the places of its committed records. output_partition: where the copies go.

    hidden_input, hidden_output: whether it has records that are not committed there, and why: "aborted" or "open".
    """

    name: str
    output_partition: int
    inputs: list[Place] = field(default_factory=list[Place])
    outputs: list[Place] = field(default_factory=list[Place])
    hidden_input: str | None = None
    hidden_output: str | None = None


class FlowModel:
    """chances: of the planted faults, all 0 for a correct application."""

    def __init__(self, seed: int, *, is_correct: bool = False) -> None:
        self._random = Random(seed)
        self._input_count = self._random.randint(1, 3)
        self._output_count = self._random.randint(1, 3)
        self._chance = 0.0 if is_correct else self._random.choice([0.02, 0.1, 0.3])
        self.events: list[Event] = []
        self.inputs: list[list[FlowRecord]] = [[] for _ in range(self._input_count)]
        self.outputs: list[list[FlowRecord]] = [[] for _ in range(self._output_count)]
        self._committed = [0] * self._input_count
        self._delivered = [0] * self._input_count
        self._processed: set[Place] = set()
        self._again: set[Place] = set()
        # Copies that the application writes later than those of the next events.
        self._late: list[Event] = []

    def run(self, count: int) -> None:
        """Write so many events, copy them, and commit."""
        for number in range(count):
            self._produce(number)
        for event in self.events:
            self._copy(event)
        for event in self._late:
            self._write(event)
        for index, records in enumerate(self.inputs):
            is_behind = self._is_planted()
            self._delivered[index] = self._random.randint(0, len(records)) if is_behind else len(records)
            self._committed[index] = self._random.randint(0, self._delivered[index]) if is_behind else len(records)
            places = [each.place for each in records if each.place.offset < self._delivered[index]]
            self._processed |= {each for each in places if self._is_planted()}
            self._again |= {each for each in places if self._is_planted()}

    def _is_planted(self) -> bool:
        return self._random.random() < self._chance

    def _produce(self, number: int) -> None:
        event = Event(f"e{number}", self._random.randrange(self._output_count))
        self.events.append(event)
        # A correct application meets transactions and copies of a producer, too.
        if self._random.random() < 0.1:
            event.hidden_input = self._hide(self.inputs, self._random.randrange(self._input_count), event)
            if self._is_planted():
                return
        self._append_input(event)
        while self._random.random() < 0.05:
            self._append_input(self._random.choice([each for each in self.events if each.inputs]))

    def _append_input(self, event: Event) -> None:
        partition = self._random.randrange(self._input_count)
        event.inputs.append(self._append(self.inputs, partition, event))

    def _append(self, topic: list[list[FlowRecord]], partition: int, event: Event, hidden: str | None = None) -> Place:
        place = Place(partition, len(topic[partition]))
        is_aborted, is_open = hidden == "aborted", hidden == "open"
        topic[partition].append(FlowRecord(event.name.encode(), place, is_aborted=is_aborted, is_open=is_open))
        return place

    def _hide(self, topic: list[list[FlowRecord]], partition: int, event: Event) -> str:
        hidden = self._random.choice(["aborted", "open"])
        self._append(topic, partition, event, hidden)
        return hidden

    def _copy(self, event: Event) -> None:
        if not event.inputs and self._is_planted():
            return
        if self._random.random() < 0.1:
            event.hidden_output = self._hide(self.outputs, event.output_partition, event)
        if self._is_planted():
            return
        if self._is_planted():
            self._late.append(event)
            return
        self._write(event)
        while self._is_planted():
            self._write(event)
        if self._is_planted():
            made = Event(f"nothing{len(self.events)}", self._random.randrange(self._output_count))
            self.events.append(made)

    def _write(self, event: Event) -> None:
        event.outputs.append(self._append(self.outputs, event.output_partition, event))

    # -- what is true

    def expected(self) -> set[Truth]:
        """Return what happened to each event."""
        return {truth for event in self.events for truth in self._truths_of(event)}

    def _truths_of(self, event: Event) -> Iterator[Truth]:
        inputs, outputs = event.inputs, event.outputs
        is_again = any(each in self._again for each in inputs)
        if not inputs and outputs:
            cause = "no_input" if event.hidden_input is None else f"{event.hidden_input}_input"
            yield "unexpected", cause, event.name
        if inputs and not outputs:
            yield "lost", self._cause_of_loss(event), event.name
        if inputs and len(outputs) > len(inputs):
            yield "doubled", "rebalance_before_commit" if is_again else "delivered_once", event.name
        if any(self._is_overtaken(event, other) for other in self.events):
            yield "out_of_order", "rebalance_before_commit" if is_again else "overtaken", event.name

    def _cause_of_loss(self, event: Event) -> str:
        place = min(event.inputs)
        if event.hidden_output is not None:
            return f"output_{event.hidden_output}"
        if place in self._processed:
            return "processed"
        if place.offset < self._committed[place.partition]:
            return "committed"
        return "not_committed" if place.offset < self._delivered[place.partition] else "not_read"

    @staticmethod
    def _is_overtaken(event: Event, other: Event) -> bool:
        """Whether the other event follows in an input partition, and goes before in an output partition."""
        if len(event.inputs) != 1 or len(other.inputs) != 1 or not event.outputs or not other.outputs:
            return False
        is_behind = event.inputs[0].partition == other.inputs[0].partition and event.inputs[0] < other.inputs[0]
        is_before = event.outputs[0].partition == other.outputs[0].partition and other.outputs[0] < event.outputs[0]
        return is_behind and is_before

    def history(self) -> GroupHistory:
        """Return what the broker has recorded of the group."""
        history = GroupHistory()
        for index in range(self._input_count):
            partition = history.partition((FROM_TOPIC, index))
            if self._delivered[index]:
                partition.delivered.put(Span(0, self._delivered[index], "worker", 1))
            partition.committed = self._committed[index]
        for place in sorted(self._again):
            fact = Fact(Kind.DELIVERED_TWICE, Cause.REBALANCE, place.offset, place.offset + 1, "worker-2", "worker")
            history.partition((FROM_TOPIC, place.partition)).facts.append(fact)
        for place in self._processed:
            history.partition((FROM_TOPIC, place.partition)).processed.add(place.offset)
        return history
