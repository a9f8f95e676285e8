"""The topics of a broker: list, create, delete, seed with records, search, compact, and apply retention.

Made of admin/methods/topics.py by tools/async_methods.py: change that one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, Unpack

from msgspec import structs

from ...faults.strict_json import convert
from ..errors import CallError
from ..methods.records import check_limit, record_of
from ..methods.topics import (
    CONFLICT,
    ConfigValue,
    PlainValue,
    RecordItems,
    RemovedItems,
    SearchFields,
    SeededItems,
    SeedFields,
    TopicItems,
    as_seeded,
)
from ..operations import (
    cleanup_operations,
    produce_operations,
    record_search,
    seed_operations,
    topic_changes,
    topic_operations,
)
from ..operations.cleanup_operations import CompactionQuery, RetentionQuery
from ..operations.produce_operations import CLIENT_ID, Produced, ProducedBody
from ..operations.record_search import FOUND_MAX, RecordSearch
from ..operations.seed_operations import SeedRecords
from ..operations.topic_changes import NewTopic
from ..operations.topic_operations import TopicInfo, TopicPath
from ..paging import NamePage
from .base import AsyncMethods


class AsyncTopics(AsyncMethods):
    """The topics: list, create, delete, seed with records, search, compact, and apply retention."""

    async def list(self) -> TopicItems:
        """Return all topics with their partitions, sorted by name."""
        return await self._all(topic_operations.list_topics, NamePage())

    async def get(self, name: str) -> TopicInfo:
        """Return a topic with its partitions. Raises CallError if there is none of this name."""
        return await self._perform(topic_operations.get_topic, path=TopicPath(topic=name))

    async def create(
        self, name: str, partitions: int | None = None, configs: Mapping[str, ConfigValue] | None = None
    ) -> TopicInfo:
        """Create a topic and return it.

        partitions: None for num.partitions. configs: Kafka's topic configs, such as {"cleanup.policy": "compact"}.
        Raises InvalidValueError for a wrong type, CallError with Kafka's message for what Kafka refuses.
        """
        body = convert({"name": name, "partitions": partitions, "configs": configs or {}}, NewTopic)
        return await self._perform(topic_changes.create_topic, body=body)

    async def delete(self, name: str) -> TopicInfo:
        """Delete a topic with its records, and return it as it was. Raises CallError."""
        return await self._perform(topic_changes.delete_topic, path=TopicPath(topic=name))

    async def seed(self, name: str, records: Iterable[SeedFields | PlainValue], *, create: bool = False) -> SeededItems:
        """Append records to a topic as test data, and return their places in the order of the call.

        records: at most 10,000 mappings with the fields of SeedFields, or values alone: seed("orders", ["tea", 3]).
        create: create the topic first if there is none, with num.partitions.
        This is no Produce: fault rules for requests do not apply, and the journal has no entry. Either all records are
        appended or none, unless the storage fails.
        Raises InvalidValueError for an invalid record, CallError for an unknown topic or partition, and for what Kafka
        refuses.
        """
        body = convert({"records": [as_seeded(record) for record in records]}, SeedRecords)
        if create:
            try:
                await self.create(name)
            except CallError as error:
                if error.status != CONFLICT:
                    raise
        seeded = await self._perform(seed_operations.seed_records, path=TopicPath(topic=name), body=body)
        return seeded.items

    async def produce(
        self,
        name: str,
        record: SeedFields | PlainValue,
        *,
        client_id: str = CLIENT_ID,
        acks: Literal[-1, 0, 1] = -1,
        timeout_ms: int = 5000,
    ) -> Produced:
        """Send a record to the leader of its partition as a Produce, and return what the client saw.

        Unlike seed, fault rules for requests apply, and the journal has the request. timeout_ms: in real time.
        Raises InvalidValueError for an invalid record, CallError for an unknown topic or partition. A lost response is
        no error: see the outcome.
        """
        given = {"records": [as_seeded(record)], "client_id": client_id, "acks": acks, "timeout_ms": timeout_ms}
        body = convert(given, ProducedBody)
        return await self._perform(produce_operations.produce_record, path=TopicPath(topic=name), body=body)

    async def search(self, name: str, limit: int = 100, **wanted: Unpack[SearchFields]) -> RecordItems:
        """Return the first limit records of a search over all partitions, by timestamp.

        Raises InvalidValueError for a wrong value, CallError for an unknown topic or partition.
        """
        given = {"in" if field == "content" else field: value for field, value in wanted.items()}
        check_limit(limit)
        body = convert(given, RecordSearch)
        found: RecordItems = []
        while True:
            body = structs.replace(body, limit=min(FOUND_MAX, limit - len(found)))
            page = await self._perform(record_search.search_records, path=TopicPath(topic=name), body=body)
            found += [record_of(name, info) for info in page.items]
            if page.next is None or len(found) >= limit:
                return found
            body = structs.replace(body, since=page.next)

    async def compact(self, name: str, partition: int | None = None) -> RemovedItems:
        """Compact a topic at once, whatever its dirty ratio; return the logs from which it removed something.

        partition: None for all. The active segment is finished first, as segment.ms does. Followers compact their logs
        too. Raises CallError for an unknown topic or partition, and for a topic without cleanup.policy=compact.
        """
        query = convert({"partition": partition}, CompactionQuery)
        removed = await self._perform(cleanup_operations.compact_topic, path=TopicPath(topic=name), query=query)
        return removed.items

    async def apply_retention(self, name: str | None = None) -> RemovedItems:
        """Apply retention.ms and retention.bytes at once; return the logs from which it removed something.

        name: None for all topics. Raises CallError for an unknown topic.
        """
        query = convert({"topic": name}, RetentionQuery)
        removed = await self._perform(cleanup_operations.apply_retention, query=query)
        return removed.items
