"""What a test can see and change behind the backs of its clients: the clock, producers, requests that are held."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ..admin.operations import clock_operations, held_operations, producer_operations
from ..admin.operations.clock_operations import ClockChange, ClockInfo
from ..admin.operations.held_operations import HeldRequestInfo, Release, held_request_info
from ..admin.operations.producer_operations import ProducerChoice, ProducerInfo, producer_info
from ..broker.replica.producer_faults import known_producers
from .calls import Ask

if TYPE_CHECKING:
    from ..admin.control import Control

# What the partitions knew before a change.
ProducersBefore = list[ProducerInfo]


class Clock:
    """The one clock that every timeout and expiry of the broker reads."""

    def __init__(self, ask: Ask) -> None:
        """ask: runs a function on the broker's thread."""
        self._ask = ask

    @property
    def now_ms(self) -> int:
        """What it shows, in ms since 1970-01-01T00:00:00Z."""
        return self._ask(clock_operations.get_clock).now_ms

    @property
    def mode(self) -> Literal["real", "manual"]:
        """Whether it goes by itself, or only when it is advanced."""
        return self._ask(clock_operations.get_clock).mode

    def set_mode(self, mode: Literal["real", "manual"]) -> None:
        """Stand still from now on, or go on from where it stands."""
        self._change(ClockChange(mode=mode))

    def advance(self, by_ms: int) -> int:
        """Move it on, in either mode, and return what it shows when all that fell due has run, in order."""
        return self._change(ClockChange(advance_ms=by_ms)).now_ms

    def _change(self, change: ClockChange) -> ClockInfo:
        return self._ask(lambda control: clock_operations.change_clock(control, change))


class Producers:
    """What the partitions know of idempotent producers.

    What changes a producer does so in every partition that knows it, or in those of a topic, or in one; and returns
    what was known before. Raises CallError where no partition knows the producer.
    """

    def __init__(self, ask: Ask) -> None:
        """ask: runs a function on the broker's thread."""
        self._ask = ask

    def list(
        self, topic: str | None = None, partition: int | None = None, producer_id: int | None = None
    ) -> list[ProducerInfo]:
        """Return them with epoch, next sequence and the batches that are recognised, by topic, partition and id."""

        def told(control: Control) -> list[ProducerInfo]:
            known = known_producers(
                control.cluster.node.replicas, topic=topic, partition=partition, producer_id=producer_id
            )
            return [producer_info(each) for each in known]

        return sorted(self._ask(told), key=lambda each: (each.topic, each.partition, each.producer_id))

    def forget(self, producer_id: int, topic: str | None = None, partition: int | None = None) -> ProducersBefore:
        """Have it forgotten."""
        choice = ProducerChoice(producer_id=producer_id, topic=topic, partition=partition)
        return self._ask(lambda control: producer_operations.forget_producer(control, choice)).items

    def expire(self, producer_id: int, topic: str | None = None, partition: int | None = None) -> ProducersBefore:
        """Let it expire, as after producer.id.expiration.ms."""
        choice = ProducerChoice(producer_id=producer_id, topic=topic, partition=partition)
        return self._ask(lambda control: producer_operations.expire_producer(control, choice)).items

    def bump_epoch(self, producer_id: int, topic: str | None = None, partition: int | None = None) -> ProducersBefore:
        """Have its next epoch known, so that it is fenced."""
        choice = ProducerChoice(producer_id=producer_id, topic=topic, partition=partition)
        return self._ask(lambda control: producer_operations.bump_producer_epoch(control, choice)).items

    def evict_cache(self, producer_id: int, topic: str | None = None, partition: int | None = None) -> ProducersBefore:
        """Have none of its batches recognised; which sequence comes next is still known."""
        choice = ProducerChoice(producer_id=producer_id, topic=topic, partition=partition)
        return self._ask(lambda control: producer_operations.evict_producer_cache(control, choice)).items


class Held:
    """The requests that a rule holds, such as faults.held(); faults.held().await_hits(2) waits for two of them."""

    def __init__(self, ask: Ask) -> None:
        """ask: runs a function on the broker's thread."""
        self._ask = ask

    def list(self) -> list[HeldRequestInfo]:
        """Return them, in the order in which they came."""
        return self._ask(lambda control: [held_request_info(held) for held in control.held.items()])

    def release(self, *requests: HeldRequestInfo | int) -> None:
        """Let these go on, requests or their ids, one after the other in this order; all where none is given.

        Raises CallError where one is not held; then none goes on.
        """
        ids = [request if isinstance(request, int) else request.id for request in requests]

        def release(control: Control) -> None:
            released = ids or [held.held_id for held in control.held.items()]
            if released:
                held_operations.release_held_in_order(control, Release(ids=released))

        self._ask(release)
