"""The topics of a broker: list, create, delete, and seed with records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict, cast

from ...faults.strict_json import convert
from ..operations import seed_operations, topic_changes, topic_operations
from ..operations.seed_operations import SeededRecord, SeedRecords
from ..operations.topic_changes import NewTopic
from ..operations.topic_operations import TopicInfo, TopicPath
from ..paging import NamePage
from .base import Methods

ConfigValue = str | int | float | bool
Bytes = str | bytes | None
HeaderFields = Mapping[str, Bytes] | Sequence[tuple[str, Bytes]]
# Within the class, `list` is the method.
TopicItems = list[TopicInfo]
SeededItems = list[SeededRecord]


class SeedFields(TypedDict, total=False):
    """A record to seed. All fields are optional.

    key, value: text, bytes or None. headers: pairs of name and value, or a mapping.
    partition: by default Kafka's partition of the key (murmur2); records without a key go to the partitions in turn.
    timestamp: in ms; by default the time of the broker's clock.
    """

    key: Bytes
    value: Bytes
    headers: HeaderFields
    partition: int
    timestamp: int


class Topics(Methods):
    """The topics: list, create, delete, and seed with records."""

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
        Raises RuleError for a wrong type, CallError with Kafka's message for what Kafka refuses.
        """
        body = convert({"name": name, "partitions": partitions, "configs": configs or {}}, NewTopic)
        return self._perform(topic_changes.create_topic, body=body)

    def delete(self, name: str) -> TopicInfo:
        """Delete a topic with its records, and return it as it was. Raises CallError."""
        return self._perform(topic_changes.delete_topic, path=TopicPath(topic=name))

    def seed(self, name: str, records: Iterable[SeedFields]) -> SeededItems:
        """Append records to a topic as test data, and return their places in the order of the call.

        records: at most 10,000 mappings with the fields of SeedFields. This is no Produce: fault rules for requests do
        not apply, and the journal has no entry. Either all records are appended or none, unless the storage fails.
        Raises RuleError for an invalid record, CallError for an unknown topic or partition and for what Kafka refuses.
        """
        body = convert({"records": [as_seeded(record) for record in records]}, SeedRecords)
        seeded = self._perform(seed_operations.seed_records, path=TopicPath(topic=name), body=body)
        return seeded.items


def as_seeded(record: object) -> object:
    """Return the record with its headers as the admin API has them; anything invalid as it is, for the conversion."""
    if not isinstance(record, Mapping):
        return record
    fields = cast("Mapping[str, object]", record)
    headers = fields.get("headers")
    if isinstance(headers, Mapping):
        headers = list(cast("Mapping[object, object]", headers).items())
    if not isinstance(headers, list | tuple):
        return fields
    return {**fields, "headers": [_as_header(header) for header in cast("Sequence[object]", headers)]}


def _as_header(header: object) -> object:
    if not isinstance(header, tuple):
        return header
    pair = cast("tuple[object, ...]", header)
    return {"name": pair[0], "value": pair[1]} if len(pair) == 2 else pair
