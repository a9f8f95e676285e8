"""What the records of APIs tell about the fields of their messages: lists of topics, other lists, error responses.

Source of the error responses: AbstractRequest.getErrorResponse of each request, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple, TypedDict, Unpack, cast

from ..kafka_uuid import uuid_text
from ..message_fields import elements, number_in, text_in, topic_id_in
from ..primitives import ZERO_UUID

# Returns the name of a topic id, None if the topic does not exist.
TopicNameOf = Callable[[bytes], "str | None"]

# ConfigResource.Type of Kafka.
TOPIC_RESOURCE = 2
GROUP_RESOURCE = 32

# FindCoordinator's node fields for an unknown coordinator.
NO_NODE: Mapping[str, object] = MappingProxyType({"node_id": -1, "port": -1})
_NONE: Mapping[str, object] = MappingProxyType({})

# last_version_with_topics of an API whose error responses of all versions have entries.
EVERY_VERSION = 2**15


class TopicList(NamedTuple):
    """The field names of one list of topics; "" for a field that the messages do not have.

    topics: the list. name, topic_id: the fields of a topic; a list of strings has neither.
    partitions: the list in each topic. partition: the field of its index; a list of numbers has none.
    owners: the list of the messages that hold the list of topics (groups, transactions), "" if the request or response
    itself holds it. owner_key: the field that identifies an owner.
    error: in responses, the error code of a partition, or of a topic without partitions.
    topic_error: in responses, the error code of a topic.
    resource_type: the field with the type of an element, if the list also has elements that are not topics.
    """

    topics: str
    name: str = "name"
    topic_id: str = ""
    partitions: str = ""
    partition: str = ""
    owners: str = ""
    owner_key: str = ""
    error: str = ""
    topic_error: str = ""
    resource_type: str = ""

    def owner_messages(self, message: object) -> list[object]:
        """Return the messages that hold a list of topics: the owners, or message itself."""
        return elements(message, self.owners) if self.owners else [message]

    def topic_name(self, topic: object, topic_name_of: TopicNameOf) -> str | None:
        """Return the name of a topic, looked up by id if it has none; None for an unknown topic and other resources."""
        if self.resource_type and number_in(topic, self.resource_type, TOPIC_RESOURCE) != TOPIC_RESOURCE:
            return None
        name = topic if isinstance(topic, str) else text_in(topic, self.name) if self.name else ""
        if name or not self.topic_id:
            return name or None
        topic_id = cast(bytes, getattr(topic, self.topic_id))
        return None if topic_id == ZERO_UUID else topic_name_of(topic_id)

    def topic_text(self, topic: object, topic_name_of: TopicNameOf) -> str | None:
        """Return the name of a topic, or its id as text if the topic does not exist; None for other resources."""
        name = self.topic_name(topic, topic_name_of)
        topic_id = topic_id_in(topic, self.topic_id) if self.topic_id else ZERO_UUID
        return uuid_text(topic_id) if name is None and topic_id != ZERO_UUID else name

    def partition_index(self, partition: object) -> int:
        """Return the index of an element of the partitions."""
        return cast(int, partition) if not self.partition else number_in(partition, self.partition, -1)

    def named_topics(self, message: object, topic_name_of: TopicNameOf) -> Iterator[tuple[str, object]]:
        """Yield name and element of each known topic of all owners."""
        for owner in self.owner_messages(message):
            yield from self.topics_of(owner, topic_name_of)

    def topics_of(self, owner: object, topic_name_of: TopicNameOf) -> Iterator[tuple[str, object]]:
        """Yield name and element of each known topic of one owner."""
        for topic in elements(owner, self.topics):
            name = self.topic_name(topic, topic_name_of)
            if name is not None:
                yield name, topic


class TopicFields(TypedDict, total=False):
    """The fields of a TopicList that differ between lists with partitions."""

    name: str
    topic_id: str
    owners: str
    owner_key: str
    topic_error: str


def partition_list(topics: str, partition: str = "partition_index", **fields: Unpack[TopicFields]) -> TopicList:
    """Return the list of topics of a request, with the field `partitions` and the index of a partition in another."""
    return TopicList(topics, partitions="partitions", partition=partition, **fields)


def partition_errors(topics: str, partition: str = "partition_index", **fields: Unpack[TopicFields]) -> TopicList:
    """Return the list of topics of a response, whose partitions have an `error_code`."""
    return partition_list(topics, partition, **fields)._replace(error="error_code")


class EntryList(NamedTuple):
    """The field names of a list in the request and of the list in the response with one entry for each element.

    key: the field of the entry that holds the element, if the elements are strings.
    copied: the fields that are copied from the element, if the elements are messages.
    """

    request_field: str
    response_field: str
    key: str = ""
    copied: tuple[str, ...] = ()


class ErrorFields(NamedTuple):
    """What the error responses have beside their error codes.

    has_text: the entries carry Kafka's text of the error; the others leave error_message null.
    partition_values, response_values: fields whose value is not the default of the message.
    last_version_with_topics: the last version whose error response has an entry for each topic; later ones have one
    error for the whole response or for each group. -1: no version has entries.
    last_version_with_maps: the last version whose topics Kafka keeps in maps: a partition that is named twice has one
    entry, a topic without partitions has none. -1: no version does.
    """

    has_text: bool = False
    partition_values: Mapping[str, object] = _NONE
    response_values: Mapping[str, object] = _NONE
    last_version_with_topics: int = EVERY_VERSION
    last_version_with_maps: int = -1
