"""The state of idempotent producers in the partitions of a broker: list and change it.

Made of admin/methods/producers.py by tools/async_methods.py: change that one.
"""

from __future__ import annotations

from ...faults.strict_json import convert
from ..methods.producers import ProducerItems, choice
from ..operations import producer_operations
from ..operations.producer_operations import ProducerQuery
from .base import AsyncMethods


class AsyncProducers(AsyncMethods):
    """The state of idempotent producers in the partitions.

    A change applies to all partitions with state of the producer, to those of topic, or to one, and returns the state
    before it. Raises CallError if no partition has state of the producer.
    """

    async def list(
        self, topic: str | None = None, partition: int | None = None, producer_id: int | None = None
    ) -> ProducerItems:
        """Return epoch, next sequence and cached batches of each producer, sorted by topic, partition and id."""
        given = {"topic": topic, "partition": partition, "producer_id": producer_id}
        return await self._all(producer_operations.list_producers, convert(given, ProducerQuery))

    async def forget(self, producer_id: int, topic: str | None = None, partition: int | None = None) -> ProducerItems:
        """Remove the producer."""
        body = choice(producer_id, topic, partition)
        changed = await self._perform(producer_operations.forget_producer, body=body)
        return changed.items

    async def expire(
        self, producer_id: int | None = None, topic: str | None = None, partition: int | None = None
    ) -> ProducerItems:
        """Expire the producer, as after producer.id.expiration.ms; without an id all that have no open transaction."""
        if producer_id is not None:
            changed = await self._perform(
                producer_operations.expire_producer, body=choice(producer_id, topic, partition)
            )
            return changed.items
        before = await self.list(topic, partition)
        idle = [each for each in before if each.current_txn_first_offset is None]
        for each in idle:
            await self._perform(
                producer_operations.expire_producer, body=choice(each.producer_id, each.topic, each.partition)
            )
        return idle

    async def bump_epoch(
        self, producer_id: int, topic: str | None = None, partition: int | None = None
    ) -> ProducerItems:
        """Raise the epoch of the producer, so that its requests are fenced."""
        body = choice(producer_id, topic, partition)
        changed = await self._perform(producer_operations.bump_producer_epoch, body=body)
        return changed.items

    async def evict_cache(
        self, producer_id: int, topic: str | None = None, partition: int | None = None
    ) -> ProducerItems:
        """Drop the cached batches of the producer, so that retries are not recognised; the next sequence stays."""
        body = choice(producer_id, topic, partition)
        changed = await self._perform(producer_operations.evict_producer_cache, body=body)
        return changed.items
