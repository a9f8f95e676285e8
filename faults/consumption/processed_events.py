"""The event ids that applications have reported as processed. A verdict looks up their offsets in the log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

# Different event ids of all groups. Reports beyond that are only counted.
EVENTS_MAX = 100_000


class EventSource(NamedTuple):
    """Whose events: those of a group, in a topic, with an event id such as header:id."""

    group: str
    topic: str
    event_id: str


class ProcessedEvents:
    """How often each event was reported. left_out: reports beyond the limit, by group."""

    __slots__ = ("_count", "_events", "left_out")

    def __init__(self) -> None:
        """Start without reports."""
        self._events: dict[EventSource, Counter[bytes]] = {}
        self._count = 0
        self.left_out: Counter[str] = Counter()

    def add(self, source: EventSource, events: Iterable[str]) -> None:
        """Note that events were reported once more."""
        counts = self._events.setdefault(source, Counter())
        for event in events:
            event_id = event.encode(errors="surrogatepass")
            if event_id not in counts and self._count >= EVENTS_MAX:
                self.left_out[source.group] += 1
                continue
            self._count += event_id not in counts
            counts[event_id] += 1

    def of_group(self, group: str) -> Mapping[EventSource, Counter[bytes]]:
        """Return the reports of a group."""
        return {source: counts for source, counts in self._events.items() if source.group == group}

    def forget_topic(self, topic: str) -> None:
        """Delete the reports about a topic."""
        for source in [each for each in self._events if each.topic == topic]:
            self._count -= len(self._events.pop(source))
