"""The state of idempotent producers in the partitions of a broker: list and change it."""

from __future__ import annotations

from ...faults.strict_json import convert
from ..operations import producer_operations
from ..operations.producer_operations import ProducerChoice, ProducerInfo, ProducerQuery
from .base import Methods

# The state of producers, before a change. Within the class, `list` is the method.
ProducerItems = list[ProducerInfo]


class Producers(Methods):
    """The state of idempotent producers in the partitions.

    A change applies to all partitions with state of the producer, to those of topic, or to one, and returns the state
    before it. Raises CallError if no partition has state of the producer.
    """

    def list(
        self, topic: str | None = None, partition: int | None = None, producer_id: int | None = None
    ) -> ProducerItems:
        """Return epoch, next sequence and cached batches of each producer, sorted by topic, partition and id."""
        given = {"topic": topic, "partition": partition, "producer_id": producer_id}
        return self._all(producer_operations.list_producers, convert(given, ProducerQuery))

    def forget(self, producer_id: int, topic: str | None = None, partition: int | None = None) -> ProducerItems:
        """Remove the producer."""
        body = choice(producer_id, topic, partition)
        changed = self._perform(producer_operations.forget_producer, body=body)
        return changed.items

    def expire(
        self, producer_id: int | None = None, topic: str | None = None, partition: int | None = None
    ) -> ProducerItems:
        """Expire the producer, as after producer.id.expiration.ms; without an id all that have no open transaction."""
        if producer_id is not None:
            changed = self._perform(producer_operations.expire_producer, body=choice(producer_id, topic, partition))
            return changed.items
        before = self.list(topic, partition)
        idle = [each for each in before if each.current_txn_first_offset is None]
        for each in idle:
            self._perform(
                producer_operations.expire_producer, body=choice(each.producer_id, each.topic, each.partition)
            )
        return idle

    def bump_epoch(self, producer_id: int, topic: str | None = None, partition: int | None = None) -> ProducerItems:
        """Raise the epoch of the producer, so that its requests are fenced."""
        body = choice(producer_id, topic, partition)
        changed = self._perform(producer_operations.bump_producer_epoch, body=body)
        return changed.items

    def evict_cache(self, producer_id: int, topic: str | None = None, partition: int | None = None) -> ProducerItems:
        """Drop the cached batches of the producer, so that retries are not recognised; the next sequence stays."""
        body = choice(producer_id, topic, partition)
        changed = self._perform(producer_operations.evict_producer_cache, body=body)
        return changed.items


def choice(producer_id: int, topic: str | None, partition: int | None) -> ProducerChoice:
    """Return a producer of all partitions, of a topic's or of one. Raises InvalidValueError."""
    return convert({"producer_id": producer_id, "topic": topic, "partition": partition}, ProducerChoice)
