"""The topics of a broker: list, create, delete, seed with records, search, compact, and apply retention."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypedDict, Unpack, cast

from msgspec import structs

from ...broker.replica.record_reader import StoredRecord
from ...faults.strict_json import convert
from ..errors import CallError
from ..operations import (
    cleanup_operations,
    produce_operations,
    record_search,
    seed_operations,
    topic_changes,
    topic_operations,
)
from ..operations.cleanup_operations import CompactionQuery, Removed, RetentionQuery
from ..operations.produce_operations import CLIENT_ID, Produced, ProducedBody
from ..operations.record_search import FOUND_MAX, RecordSearch
from ..operations.seed_operations import SeededRecord, SeedRecords
from ..operations.topic_changes import NewTopic
from ..operations.topic_operations import TopicInfo, TopicPath
from ..paging import NamePage
from .base import Methods
from .records import check_limit, record_of

ConfigValue = str | int | float | bool
Bytes = str | bytes | None
# A value alone, which becomes the value of a record.
PlainValue = str | bytes | int | float | None
AnyValue = PlainValue | Sequence[object] | Mapping[str, object]
HeaderFields = Mapping[str, Bytes] | Sequence[tuple[str, Bytes]]
PLAIN = str | bytes | int | float
CONFLICT = 409
# Within the class, `list` is the method.
TopicItems = list[TopicInfo]
SeededItems = list[SeededRecord]
RemovedItems = list[Removed]
RecordItems = list[StoredRecord]


class SeedFields(TypedDict, total=False):
    """A record to seed. All fields are optional.

    key, value: text, bytes or None; a number, a boolean, a list or a dict becomes JSON.
    headers: pairs of name and value, or a mapping.
    partition: by default Kafka's partition of the key (murmur2); records without a key go to the partitions in turn.
    timestamp: in ms; by default the time of the broker's clock.
    """

    key: AnyValue
    value: AnyValue
    headers: HeaderFields
    partition: int
    timestamp: int


class SearchFields(TypedDict, total=False):
    """The records to search for. All fields are optional.

    content: key, value, header:NAME or json:PATH; without it key, value and headers. contains, equals: a text. regex:
    of RE2. from_offset, to_offset, from_ms, to_ms: limits, included. order: by timestamp; newest first is the default.
    """

    content: str
    contains: str
    equals: str
    regex: str
    partition: int
    from_offset: int
    to_offset: int
    from_ms: int
    to_ms: int
    order: Literal["newest", "oldest"]


class Topics(Methods):
    """The topics: list, create, delete, seed with records, search, compact, and apply retention."""

    def list(self) -> TopicItems:
        """Return all topics with their partitions, sorted by name."""
        return self._all(topic_operations.list_topics, NamePage())

    def get(self, name: str) -> TopicInfo:
        """Return a topic with its partitions. Raises CallError if there is none of this name."""
        return self._perform(topic_operations.get_topic, path=TopicPath(topic=name))

    def create(
        self, name: str, partitions: int | None = None, configs: Mapping[str, ConfigValue] | None = None
    ) -> TopicInfo:
        """Create a topic and return it.

        partitions: None for num.partitions. configs: Kafka's topic configs, such as {"cleanup.policy": "compact"}.
        Raises InvalidValueError for a wrong type, CallError with Kafka's message for what Kafka refuses.
        """
        body = convert({"name": name, "partitions": partitions, "configs": configs or {}}, NewTopic)
        return self._perform(topic_changes.create_topic, body=body)

    def delete(self, name: str) -> TopicInfo:
        """Delete a topic with its records, and return it as it was. Raises CallError."""
        return self._perform(topic_changes.delete_topic, path=TopicPath(topic=name))

    def seed(self, name: str, records: Iterable[SeedFields | PlainValue], *, create: bool = False) -> SeededItems:
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
                self.create(name)
            except CallError as error:
                # It exists, or the append says what else is wrong.
                if error.status != CONFLICT:
                    raise
        seeded = self._perform(seed_operations.seed_records, path=TopicPath(topic=name), body=body)
        return seeded.items

    def produce(
        self,
        name: str,
        record: SeedFields | PlainValue,
        *,
        client_id: str = CLIENT_ID,
        acks: Literal[-1, 0, 1] = -1,
        timeout_ms: int = 5_000,
    ) -> Produced:
        """Send a record to the leader of its partition as a Produce, and return what the client saw.

        Unlike seed, fault rules for requests apply, and the journal has the request. timeout_ms: in real time.
        Raises InvalidValueError for an invalid record, CallError for an unknown topic or partition. A lost response is
        no error: see the outcome.
        """
        given = {"records": [as_seeded(record)], "client_id": client_id, "acks": acks, "timeout_ms": timeout_ms}
        body = convert(given, ProducedBody)
        return self._perform(produce_operations.produce_record, path=TopicPath(topic=name), body=body)

    def search(self, name: str, limit: int = 100, **wanted: Unpack[SearchFields]) -> RecordItems:
        """Return the first limit records of a search over all partitions, by timestamp.

        Raises InvalidValueError for a wrong value, CallError for an unknown topic or partition.
        """
        given = {"in" if field == "content" else field: value for field, value in wanted.items()}
        check_limit(limit)
        body = convert(given, RecordSearch)
        found: RecordItems = []
        while True:
            body = structs.replace(body, limit=min(FOUND_MAX, limit - len(found)))
            page = self._perform(record_search.search_records, path=TopicPath(topic=name), body=body)
            found += [record_of(name, info) for info in page.items]
            if page.next is None or len(found) >= limit:
                return found
            body = structs.replace(body, since=page.next)

    def compact(self, name: str, partition: int | None = None) -> RemovedItems:
        """Compact a topic at once, whatever its dirty ratio; return the logs from which it removed something.

        partition: None for all. The active segment is finished first, as segment.ms does. Followers compact their logs
        too. Raises CallError for an unknown topic or partition, and for a topic without cleanup.policy=compact.
        """
        query = convert({"partition": partition}, CompactionQuery)
        removed = self._perform(cleanup_operations.compact_topic, path=TopicPath(topic=name), query=query)
        return removed.items

    def apply_retention(self, name: str | None = None) -> RemovedItems:
        """Apply retention.ms and retention.bytes at once; return the logs from which it removed something.

        name: None for all topics. Raises CallError for an unknown topic.
        """
        query = convert({"topic": name}, RetentionQuery)
        removed = self._perform(cleanup_operations.apply_retention, query=query)
        return removed.items


def as_seeded(record: object) -> object:
    """Return the record as the admin API has it; anything invalid as it is, for the conversion."""
    if record is None or isinstance(record, PLAIN):
        return {"value": _as_bytes(record)}
    if not isinstance(record, Mapping):
        return record
    fields = dict(cast("Mapping[str, object]", record))
    fields.update((name, _as_bytes(fields[name])) for name in ("key", "value") if name in fields)
    headers = fields.get("headers")
    if isinstance(headers, Mapping):
        headers = list(cast("Mapping[object, object]", headers).items())
    if not isinstance(headers, list | tuple):
        return fields
    return {**fields, "headers": [_as_header(header) for header in cast("Sequence[object]", headers)]}


def _as_bytes(value: object) -> object:
    """Return a key or value as the admin API has it: what JSON has besides text and null as its JSON."""
    is_json = isinstance(value, bool | int | float | list | tuple | dict)
    return json.dumps(value, separators=(",", ":")) if is_json else value


def _as_header(header: object) -> object:
    if not isinstance(header, tuple):
        return header
    pair = cast("tuple[object, ...]", header)
    return {"name": pair[0], "value": pair[1]} if len(pair) == 2 else pair
