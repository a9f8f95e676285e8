"""The events of two topics: the input of an application, and the output that it makes of it.

- Only records that a consumer with read_committed gets count. The others explain what is missing.
- The input is added before the output, each partition in the order of its offsets.
- Order is that of the events of one input partition in one output partition. An event is overtaken if one that is
  behind it in the input is before it in the output. The first place of an event in the output partition counts, so that
  a repetition overtakes nothing. An event that the input has several times has no place in the order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

# Different events. A flow with more has no verdict: an event that is left out would be lost or unexpected.
EVENTS_MAX = 250_000
# Places of an event in a topic that are kept; more are only counted.
PLACES_MAX = 10
# A longer event id is kept as its first bytes and a hash.
ID_BYTES_MAX = 100
_HASH_BYTES = 16


class TooManyEventsError(Exception):
    """There are more than EVENTS_MAX different events."""


class Place(NamedTuple):
    """A record in a topic."""

    partition: int
    offset: int


class FlowRecord(NamedTuple):
    """A record of either topic. is_aborted: of an aborted transaction. is_open: at or behind the last stable offset."""

    event_id: bytes
    place: Place
    is_aborted: bool = False
    is_open: bool = False


@dataclass(slots=True)
class Side:
    """An event in one of the two topics.

    places: of the first committed records. count: of all committed records. is_aborted, is_open: whether there is a
    record that is not committed, for this reason.
    """

    places: tuple[Place, ...] = ()
    count: int = 0
    is_aborted: bool = False
    is_open: bool = False

    def add(self, record: FlowRecord) -> bool:
        """Add a record, and return whether it counts."""
        if record.is_aborted or record.is_open:
            self.is_aborted |= record.is_aborted
            self.is_open |= record.is_open
            return False
        self.count += 1
        if len(self.places) < PLACES_MAX:
            self.places += (record.place,)
        return True

    def has_in(self, partition: int) -> bool:
        """Whether the event may be in a partition of the topic: beyond PLACES_MAX it is not known."""
        return self.count >= PLACES_MAX or any(each.partition == partition for each in self.places)


@dataclass(eq=False, slots=True)
class FlowEvent:
    """An event. overtaken_by: one that is behind it in the input and before it in the output; None without one."""

    event_id: bytes
    input: Side = field(default_factory=Side)
    output: Side = field(default_factory=Side)
    overtaken_by: FlowEvent | None = None

    @property
    def name(self) -> str:
        """The event id as text; a long one is shortened."""
        text = self.event_id[:ID_BYTES_MAX].decode(errors="backslashreplace")
        return text if len(self.event_id) <= ID_BYTES_MAX else f"{text}…"


class FlowEvents:
    """The events of both topics."""

    def __init__(self) -> None:
        """Start without events."""
        self._events: dict[bytes, FlowEvent] = {}
        # By input partition and output partition: of the events of the output the one that is furthest in the input.
        self._furthest: dict[tuple[int, int], FlowEvent] = {}

    def __iter__(self) -> Iterator[FlowEvent]:
        """Yield the events in the order of the input, and then those of the output only."""
        return iter(self._events.values())

    def add_input(self, record: FlowRecord) -> None:
        """Add a record of the input. Raises TooManyEventsError."""
        self._event(record.event_id).input.add(record)

    def add_output(self, record: FlowRecord) -> None:
        """Add a record of the output. Raises TooManyEventsError."""
        event, partition = self._event(record.event_id), record.place.partition
        is_first = not event.output.has_in(partition)
        if event.output.add(record) and is_first and event.input.count == 1:
            self._compare_order(event, partition)

    def _compare_order(self, event: FlowEvent, partition: int) -> None:
        (place,) = event.input.places
        lane = (place.partition, partition)
        furthest = self._furthest.get(lane)
        if furthest is None or furthest.input.places[0].offset < place.offset:
            self._furthest[lane] = event
        elif event.overtaken_by is None:
            event.overtaken_by = furthest

    def _event(self, event_id: bytes) -> FlowEvent:
        if len(event_id) > ID_BYTES_MAX:
            # With the hash it is longer than any id that is kept whole, so that the two cannot be equal.
            event_id = event_id[:ID_BYTES_MAX] + blake2b(event_id, digest_size=_HASH_BYTES).digest()
        event = self._events.get(event_id)
        if event is None:
            if len(self._events) >= EVENTS_MAX:
                raise TooManyEventsError
            event = self._events[event_id] = FlowEvent(event_id)
        return event
