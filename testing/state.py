"""Broker state that a test can read and change: the clock, producers, held requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ..admin.leading_partitions import leading_partitions
from ..admin.operations import clock_operations, held_operations, producer_operations
from ..admin.operations.clock_operations import ClockChange, ClockInfo
from ..admin.operations.held_operations import HeldRequestInfo, Release, held_request_info
from ..admin.operations.producer_operations import ProducerChoice, ProducerInfo, producer_info
from ..broker.replica.producer_faults import known_producers
from ..faults.strict_json import convert
from .calls import ControlCall

if TYPE_CHECKING:
    from ..admin.control import Control

# The state of the producers before a change.
ProducersBefore = list[ProducerInfo]


class Clock:
    """The clock of all timeouts and expiries of the broker."""

    def __init__(self, call: ControlCall) -> None:
        """call: runs a function on the broker's thread."""
        self._call = call

    @property
    def now_ms(self) -> int:
        """The current time in ms since 1970-01-01T00:00:00Z."""
        return self._call(clock_operations.get_clock).now_ms

    @property
    def mode(self) -> Literal["real", "manual"]:
        """Whether the clock runs, or moves only when it is advanced."""
        return self._call(clock_operations.get_clock).mode

    def set_mode(self, mode: Literal["real", "manual"]) -> None:
        """Stop the clock ("manual"), or let it run from its current time ("real")."""
        self._change(convert({"mode": mode}, ClockChange))

    def advance(self, by_ms: int) -> int:
        """Advance the clock, in either mode; run the expired timers in order, then return the time."""
        return self._change(convert({"advance_ms": by_ms}, ClockChange)).now_ms

    def _change(self, change: ClockChange) -> ClockInfo:
        return self._call(lambda control: clock_operations.change_clock(control, change))


class Producers:
    """The state of idempotent producers in the partitions.

    A change applies to all partitions with state of the producer, to those of topic, or to one, and returns the state
    before it. Raises CallError if no partition has state of the producer.
    """

    def __init__(self, call: ControlCall) -> None:
        """call: runs a function on the broker's thread."""
        self._call = call

    def list(
        self, topic: str | None = None, partition: int | None = None, producer_id: int | None = None
    ) -> list[ProducerInfo]:
        """Return epoch, next sequence and cached batches of each producer, sorted by topic, partition and id."""

        def producers(control: Control) -> list[ProducerInfo]:
            known = known_producers(
                leading_partitions(control.cluster), topic=topic, partition=partition, producer_id=producer_id
            )
            return [producer_info(each) for each in known]

        return sorted(self._call(producers), key=lambda each: (each.topic, each.partition, each.producer_id))

    def forget(self, producer_id: int, topic: str | None = None, partition: int | None = None) -> ProducersBefore:
        """Remove the producer."""
        choice = _choice(producer_id, topic, partition)
        return self._call(lambda control: producer_operations.forget_producer(control, choice)).items

    def expire(self, producer_id: int, topic: str | None = None, partition: int | None = None) -> ProducersBefore:
        """Expire the producer, as after producer.id.expiration.ms."""
        choice = _choice(producer_id, topic, partition)
        return self._call(lambda control: producer_operations.expire_producer(control, choice)).items

    def bump_epoch(self, producer_id: int, topic: str | None = None, partition: int | None = None) -> ProducersBefore:
        """Raise the epoch of the producer, so that its requests are fenced."""
        choice = _choice(producer_id, topic, partition)
        return self._call(lambda control: producer_operations.bump_producer_epoch(control, choice)).items

    def evict_cache(self, producer_id: int, topic: str | None = None, partition: int | None = None) -> ProducersBefore:
        """Drop the cached batches of the producer, so that retries are not recognised; the next sequence stays."""
        choice = _choice(producer_id, topic, partition)
        return self._call(lambda control: producer_operations.evict_producer_cache(control, choice)).items


def _choice(producer_id: int, topic: str | None, partition: int | None) -> ProducerChoice:
    return convert({"producer_id": producer_id, "topic": topic, "partition": partition}, ProducerChoice)


class Held:
    """The requests that a fault rule holds, such as faults.held(); faults.held().await_hits(2) waits for two."""

    def __init__(self, call: ControlCall) -> None:
        """call: runs a function on the broker's thread."""
        self._call = call

    def list(self) -> list[HeldRequestInfo]:
        """Return the held requests, in the order of their arrival."""
        return self._call(lambda control: [held_request_info(held) for held in control.held.items()])

    def release(self, *requests: HeldRequestInfo | int) -> None:
        """Release requests, or their ids, in this order; without arguments all.

        Raises CallError if one is not held; then none is released.
        """
        ids = [request.id if isinstance(request, HeldRequestInfo) else request for request in requests]

        def release(control: Control) -> None:
            released = ids or [held.held_id for held in control.held.items()]
            if released:
                held_operations.release_held_in_order(control, convert({"ids": released}, Release))

        self._call(release)
