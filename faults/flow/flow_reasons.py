"""Why an event is lost, doubled, out of order or unexpected, as far as the topics and a group's history have it."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from ..consumption.explanations import explain, explain_second_delivery
from ..consumption.facts import Cause, Fact, Kind
from ..consumption.group_history import GroupHistory
from ..consumption.partition_history import PartitionHistory
from .flow_events import FlowEvent, Place

NONE_OPEN = frozenset[int]()
_AGAIN = (Kind.DELIVERED_TWICE, Kind.HANGING)
_NEVER = (Kind.NEVER_DELIVERED, Kind.ARCHIVED, Kind.REJECTED)


class Reason(NamedTuple):
    """A cause, as of FlowFinding, with a sentence, and the ids of requests that played a part."""

    cause: str
    why: str
    request_ids: Collection[int] = ()


class FlowReasons:
    """The reasons of the group that reads the input.

    What the group has committed is that of the time when the reasons are made, which is that of the ends of the topics.
    """

    def __init__(
        self,
        group: str | None,
        history: GroupHistory,
        topics: tuple[str, str],
        reported: Collection[bytes] = (),
    ) -> None:
        """group: None if it is not known. topics: input and output. reported: events that it reported as processed."""
        self._group = group
        from_topic, self._to_topic = topics
        self._reported = reported
        self._from_topic = from_topic
        self._partitions = {index: each for (topic, index), each in history.partitions.items() if topic == from_topic}
        self._shares = {index: each for (topic, index), each in history.shares.items() if topic == from_topic}
        # By partition: the first offset that is not committed, and offsets before it that are not done.
        self._committed = {index: (each.committed or 0, NONE_OPEN) for index, each in self._partitions.items()}
        self._committed |= {index: (each.end or 0, each.open_offsets) for index, each in self._shares.items()}
        self._facts: dict[int, list[Fact]] = {}

    def of_lost(self, event: FlowEvent) -> Reason:
        """Return why the output does not have the event."""
        place, group = event.input.places[0], f"group {self._group}"
        committed, not_done = self._committed.get(place.partition, (0, NONE_OPEN))
        is_committed = place.offset < committed and place.offset not in not_done
        if event.output.is_aborted:
            how = f", and {group} has committed them all the same" if is_committed else ""
            return Reason("output_aborted", f"their output is in an aborted transaction{how}")
        if event.output.is_open:
            return Reason("output_open", "their output is in an open transaction, or behind one")
        if place.partition not in self._committed:
            return self._unknown()
        never = self._find_fact(place, _NEVER)
        if never is not None:
            cause = never.cause.value if never.kind is Kind.NEVER_DELIVERED else never.kind.value
            return Reason(cause, f"{group} never processed them: {explain(never)}", never.request_ids)
        partition = self._partitions.get(place.partition)
        is_reported = partition is not None and not partition.processed.missing(place.offset, place.offset + 1)
        if is_reported or event.event_id in self._reported:
            return Reason("processed", "the application reported them as processed, and did not write them")
        if is_committed:
            return Reason("committed", f"{group} has committed them, and their output was never written")
        return self._of_uncommitted(place, partition)

    def _of_uncommitted(self, place: Place, partition: PartitionHistory | None) -> Reason:
        later = "has not committed them: they may still come"
        if partition is not None and not partition.delivered.within(place.offset, place.offset + 1):
            return Reason("not_read", f"group {self._group} has not got them and {later}")
        return Reason("not_committed", f"group {self._group} {later}")

    def of_doubled(self, event: FlowEvent) -> Reason:
        """Return why the output has the event more often than the input."""
        known = [each for each in event.input.places if each.partition in self._committed]
        if not known:
            return self._unknown()
        for place in known:
            again = self._find_fact(place, _AGAIN)
            if again is not None:
                return Reason(again.cause.value, _explain_again(again), again.request_ids)
        return Reason(
            "delivered_once",
            f"group {self._group} got them at most once: the application wrote them again, or its producer sent them "
            f"again (see the verdict on {self._to_topic})",
        )

    def of_overtaken(self, event: FlowEvent) -> Reason:
        """Return why the output has the event behind a later one."""
        later = event.overtaken_by
        assert later is not None, "the event was overtaken"
        (at,) = later.input.places
        why = f"{self._to_topic} has {later.name} before them, which {self._from_topic} has behind them at {_text(at)}"
        again = self._find_fact(event.input.places[0], _AGAIN)
        if again is None:
            return Reason("overtaken", why)
        return Reason(again.cause.value, f"{why}; {_explain_again(again)}", again.request_ids)

    def of_unexpected(self, event: FlowEvent) -> Reason:
        """Return why the output has an event that the input does not have."""
        if event.input.is_aborted:
            return Reason("aborted_input", "their input was aborted: the application reads uncommitted records")
        if event.input.is_open:
            where = "in an open transaction, or behind one"
            return Reason("open_input", f"their input is {where}: the application reads uncommitted records")
        return Reason("no_input", f"no record of {self._from_topic} has their event id")

    def _find_fact(self, place: Place, kinds: Collection[Kind]) -> Fact | None:
        """Return the first fact of these kinds about an offset of the input."""
        facts = self._facts.get(place.partition)
        if facts is None:
            facts = self._facts[place.partition] = self._facts_of(place.partition)
        return next((each for each in facts if each.kind in kinds and each.first <= place.offset < each.end), None)

    def _facts_of(self, index: int) -> list[Fact]:
        partition, share = self._partitions.get(index), self._shares.get(index)
        facts = [] if partition is None else [*partition.facts, *partition.missing(None)]
        return facts if share is None else [*facts, *share.facts()]

    def _unknown(self) -> Reason:
        if self._group is None:
            return Reason("unknown", f"no single group is known to read {self._from_topic}")
        return Reason("unknown", f"no delivery or commit of group {self._group} is known in this partition")


def _explain_again(fact: Fact) -> str:
    return explain(fact) if fact.cause is Cause.SAME_OFFSET else explain_second_delivery(fact)


def _text(place: Place) -> str:
    return f"{place.partition}@{place.offset}"
