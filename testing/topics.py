"""The topics of a broker: list, create, delete, and seed with records."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict, cast

from ..admin.operations import seed_operations, topic_changes, topic_operations
from ..admin.operations.seed_operations import SeededRecord, SeededRecords, SeedRecords
from ..admin.operations.topic_changes import NewTopic
from ..admin.operations.topic_operations import TopicInfo, TopicPath
from ..faults import strict_json
from .calls import AsyncPerform, ControlCall, Perform, all_named

if TYPE_CHECKING:
    from ..admin.control import Control

ConfigValue = str | int | float | bool
Bytes = str | bytes | None
HeaderFields = Mapping[str, Bytes] | Sequence[tuple[str, Bytes]]


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


class _Topics:
    """The reading operations, which wait for nothing."""

    def __init__(self, call: ControlCall) -> None:
        self._call = call

    def list(self) -> list[TopicInfo]:
        """Return all topics with their partitions, sorted by name."""
        return all_named(self._call, topic_operations.list_topics)

    def get(self, name: str) -> TopicInfo:
        """Return a topic with its partitions. Raises CallError if there is none of this name."""
        return self._call(lambda control: topic_operations.get_topic(control, TopicPath(topic=name)))


class Topics(_Topics):
    """The topics of Broker."""

    def __init__(self, call: ControlCall, perform: Perform) -> None:
        """call, perform: run a function, or an operation that waits, on the broker's thread."""
        super().__init__(call)
        self._perform = perform

    def create(
        self, name: str, partitions: int | None = None, configs: Mapping[str, ConfigValue] | None = None
    ) -> TopicInfo:
        """Create a topic and return it.

        partitions: None for num.partitions. configs: Kafka's topic configs, such as {"cleanup.policy": "compact"}.
        Raises RuleError for a wrong type, CallError with Kafka's message for what Kafka refuses.
        """
        topic = _new_topic(name, partitions, configs)
        return self._perform(lambda control: topic_changes.create_topic(control, topic))

    def delete(self, name: str) -> TopicInfo:
        """Delete a topic with its records, and return it as it was. Raises CallError."""
        return self._perform(lambda control: topic_changes.delete_topic(control, TopicPath(topic=name)))

    def seed(self, name: str, records: Iterable[SeedFields]) -> list[SeededRecord]:
        """Append records to a topic as test data, and return their places in the order of the call.

        records: at most 10,000 mappings with the fields of SeedFields. This is no Produce: fault rules for requests do
        not apply, and the journal has no entry. Either all records are appended or none, unless the storage fails.
        Raises RuleError for an invalid record, CallError for an unknown topic or partition and for what Kafka refuses.
        """
        return self._perform(_seeding(name, records)).items


class AsyncTopics(_Topics):
    """The topics of AsyncBroker."""

    def __init__(self, call: ControlCall, perform: AsyncPerform) -> None:
        """call, perform: run a function, or an operation that waits, on the running event loop."""
        super().__init__(call)
        self._perform = perform

    async def create(
        self, name: str, partitions: int | None = None, configs: Mapping[str, ConfigValue] | None = None
    ) -> TopicInfo:
        """Create a topic and return it; as Topics.create."""
        topic = _new_topic(name, partitions, configs)
        return await self._perform(lambda control: topic_changes.create_topic(control, topic))

    async def delete(self, name: str) -> TopicInfo:
        """Delete a topic with its records, and return it as it was. Raises CallError."""
        return await self._perform(lambda control: topic_changes.delete_topic(control, TopicPath(topic=name)))

    async def seed(self, name: str, records: Iterable[SeedFields]) -> list[SeededRecord]:
        """Append records to a topic as test data; as Topics.seed."""
        return (await self._perform(_seeding(name, records))).items


def _new_topic(name: str, partitions: int | None, configs: Mapping[str, ConfigValue] | None) -> NewTopic:
    fields = {"name": name, "partitions": partitions, "configs": configs or {}}
    return strict_json.convert(fields, NewTopic)


def _seeding(name: str, records: Iterable[SeedFields]) -> Callable[[Control], Coroutine[object, object, SeededRecords]]:
    """Return the operation that appends the records. Raises RuleError for an invalid one."""
    path = TopicPath(topic=name)
    body = strict_json.convert({"records": [_as_seeded(record) for record in records]}, SeedRecords)
    return lambda control: seed_operations.seed_records(control, path, body)


def _as_seeded(record: object) -> object:
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
