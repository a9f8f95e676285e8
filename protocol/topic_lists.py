"""The fields in which the requests and responses of each API name topics and partitions.

Most messages have a list of topics, each with a list of partitions. In some messages each group, transaction or folder
has such a list, and some name topics only. The APIs differ in the names of the fields.
An API whose messages changed their structure with a version has two lists, one of which is empty in any message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast

from .api_keys import Api, ApiKey
from .message_types import elements, number_in, text_in
from .primitives import ZERO_UUID

# Returns the name of a topic id, None if the topic does not exist.
TopicNameOf = Callable[[bytes], "str | None"]

# ConfigResource.Type of Kafka.
TOPIC_RESOURCE = 2
GROUP_RESOURCE = 32


@dataclass(frozen=True, slots=True)
class TopicList:
    """The field names of one list of topics; "" for a field that the messages do not have.

    owners: the list of the messages that hold the list of topics (groups, transactions), "" if the request or response
    itself holds it. owner_key: the field that identifies an owner.
    topics: the list. name, topic_id: the fields of a topic; a list of strings has neither.
    partitions: the list in each topic. index: the field of a partition; a list of numbers has none.
    error: in responses, the error code of a partition, or of a topic without partitions.
    topic_error: in responses, the error code of a topic.
    resource_type: the field with the type of an element, if the list also has elements that are not topics.
    """

    topics: str
    name: str = "name"
    topic_id: str = ""
    partitions: str = ""
    index: str = ""
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

    def partition_index(self, partition: object) -> int:
        """Return the index of an element of the partitions."""
        return cast(int, partition) if not self.index else number_in(partition, self.index, -1)

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


def _partitions(topics: str = "topics", name: str = "name", index: str = "partition_index") -> TopicList:
    return TopicList(topics, name, partitions="partitions", index=index)


def _bare_partitions(topics: str = "topics", name: str = "name", partitions: str = "partitions") -> TopicList:
    return TopicList(topics, name, partitions=partitions)


_SHARE_STATE_REQUEST = TopicList("topics", "", "topic_id", "partitions", "partition")
_SHARE_REQUEST = TopicList("topics", "", "topic_id", "partitions", "partition_index")
_RESOURCES = TopicList("resources", "resource_name", resource_type="resource_type")

REQUEST_LISTS: dict[ApiKey, tuple[TopicList, ...]] = {
    ApiKey.PRODUCE: (TopicList("topic_data", "name", "topic_id", "partition_data", "index"),),
    ApiKey.FETCH: (TopicList("topics", "topic", "topic_id", "partitions", "partition"),),
    ApiKey.LIST_OFFSETS: (_partitions(),),
    ApiKey.METADATA: (TopicList("topics", "name", "topic_id"),),
    ApiKey.OFFSET_COMMIT: (TopicList("topics", "name", "topic_id", "partitions", "partition_index"),),
    ApiKey.OFFSET_FETCH: (
        _bare_partitions(partitions="partition_indexes"),
        TopicList("topics", "name", "topic_id", "partition_indexes", owners="groups", owner_key="group_id"),
    ),
    ApiKey.CREATE_TOPICS: (TopicList("topics"),),
    ApiKey.DELETE_TOPICS: (TopicList("topic_names", ""), TopicList("topics", "name", "topic_id")),
    ApiKey.DELETE_RECORDS: (_partitions(),),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: (_partitions(name="topic", index="partition"),),
    ApiKey.ADD_PARTITIONS_TO_TXN: (
        _bare_partitions("v3_and_below_topics"),
        TopicList("topics", partitions="partitions", owners="transactions", owner_key="transactional_id"),
    ),
    ApiKey.WRITE_TXN_MARKERS: (
        TopicList("topics", partitions="partition_indexes", owners="markers", owner_key="producer_id"),
    ),
    ApiKey.TXN_OFFSET_COMMIT: (_partitions(),),
    ApiKey.DESCRIBE_CONFIGS: (_RESOURCES,),
    ApiKey.ALTER_CONFIGS: (_RESOURCES,),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: (_RESOURCES,),
    ApiKey.ALTER_REPLICA_LOG_DIRS: (TopicList("topics", partitions="partitions", owners="dirs", owner_key="path"),),
    ApiKey.DESCRIBE_LOG_DIRS: (_bare_partitions(name="topic"),),
    ApiKey.CREATE_PARTITIONS: (TopicList("topics"),),
    ApiKey.ELECT_LEADERS: (_bare_partitions("topic_partitions", "topic"),),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: (_partitions(),),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: (_bare_partitions(partitions="partition_indexes"),),
    ApiKey.OFFSET_DELETE: (_partitions(),),
    ApiKey.DESCRIBE_QUORUM: (_partitions(name="topic_name"),),
    ApiKey.DESCRIBE_PRODUCERS: (_bare_partitions(partitions="partition_indexes"),),
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: (TopicList("topics"),),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: (
        TopicList("subscribed_topic_names", ""),
        TopicList("topic_partitions", "", "topic_id", "partitions"),
    ),
    ApiKey.SHARE_GROUP_HEARTBEAT: (TopicList("subscribed_topic_names", ""),),
    ApiKey.SHARE_FETCH: (_SHARE_REQUEST,),
    ApiKey.SHARE_ACKNOWLEDGE: (_SHARE_REQUEST,),
    ApiKey.INITIALIZE_SHARE_GROUP_STATE: (_SHARE_STATE_REQUEST,),
    ApiKey.READ_SHARE_GROUP_STATE: (_SHARE_STATE_REQUEST,),
    ApiKey.WRITE_SHARE_GROUP_STATE: (_SHARE_STATE_REQUEST,),
    ApiKey.DELETE_SHARE_GROUP_STATE: (_SHARE_STATE_REQUEST,),
    ApiKey.READ_SHARE_GROUP_STATE_SUMMARY: (_SHARE_STATE_REQUEST,),
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: (
        TopicList("topics", "topic_name", partitions="partitions", owners="groups", owner_key="group_id"),
    ),
    ApiKey.ALTER_SHARE_GROUP_OFFSETS: (_partitions(name="topic_name"),),
    ApiKey.DELETE_SHARE_GROUP_OFFSETS: (TopicList("topics", "topic_name"),),
}


def request_lists(api: Api) -> tuple[TopicList, ...]:
    """Return the lists of topics in the API's requests; () for none."""
    return REQUEST_LISTS.get(api.key, ())


def _partition_errors(
    topics: str = "topics", name: str = "name", partitions: str = "partitions", index: str = "partition_index"
) -> TopicList:
    return TopicList(topics, name, partitions=partitions, index=index, error="error_code")


def _partition_errors_by_id(topics: str, partitions: str = "partitions", index: str = "partition_index") -> TopicList:
    return TopicList(topics, "", "topic_id", partitions, index, error="error_code")


def _topic_errors(topics: str, name: str = "name", topic_id: str = "", resource_type: str = "") -> TopicList:
    return TopicList(topics, name, topic_id, topic_error="error_code", resource_type=resource_type)


_SHARE_STATE_RESPONSE = _partition_errors_by_id("results", index="partition")
_RESOURCE_RESPONSE = _topic_errors("responses", "resource_name", resource_type="resource_type")
_DELETED_TOPICS = _topic_errors("responses", topic_id="topic_id")

# The list of the response for each list of the request, for all APIs whose responses name topics as the requests do.
RESPONSE_LISTS: dict[ApiKey, tuple[TopicList, ...]] = {
    ApiKey.PRODUCE: (TopicList("responses", "name", "topic_id", "partition_responses", "index", error="error_code"),),
    ApiKey.FETCH: (TopicList("responses", "topic", "topic_id", "partitions", "partition_index", error="error_code"),),
    ApiKey.LIST_OFFSETS: (_partition_errors(),),
    ApiKey.METADATA: (
        TopicList(
            "topics", "name", "topic_id", "partitions", "partition_index", error="error_code", topic_error="error_code"
        ),
    ),
    ApiKey.OFFSET_COMMIT: (
        TopicList("topics", "name", "topic_id", "partitions", "partition_index", error="error_code"),
    ),
    ApiKey.OFFSET_FETCH: (
        _partition_errors(),
        TopicList(
            "topics", "name", "topic_id", "partitions", "partition_index", "groups", "group_id", error="error_code"
        ),
    ),
    ApiKey.CREATE_TOPICS: (_topic_errors("topics"),),
    ApiKey.DELETE_TOPICS: (_DELETED_TOPICS, _DELETED_TOPICS),
    ApiKey.DELETE_RECORDS: (_partition_errors(),),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: (_partition_errors(name="topic", index="partition"),),
    ApiKey.ADD_PARTITIONS_TO_TXN: (
        TopicList(
            "results_by_topic_v3_and_below",
            partitions="results_by_partition",
            index="partition_index",
            error="partition_error_code",
        ),
        TopicList(
            "topic_results",
            partitions="results_by_partition",
            index="partition_index",
            owners="results_by_transaction",
            owner_key="transactional_id",
            error="partition_error_code",
        ),
    ),
    ApiKey.WRITE_TXN_MARKERS: (
        TopicList(
            "topics",
            partitions="partitions",
            index="partition_index",
            owners="markers",
            owner_key="producer_id",
            error="error_code",
        ),
    ),
    ApiKey.TXN_OFFSET_COMMIT: (_partition_errors(),),
    ApiKey.DESCRIBE_CONFIGS: (_topic_errors("results", "resource_name", resource_type="resource_type"),),
    ApiKey.ALTER_CONFIGS: (_RESOURCE_RESPONSE,),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: (_RESOURCE_RESPONSE,),
    ApiKey.ALTER_REPLICA_LOG_DIRS: (_partition_errors("results", "topic_name"),),
    ApiKey.CREATE_PARTITIONS: (_topic_errors("results"),),
    ApiKey.ELECT_LEADERS: (_partition_errors("replica_election_results", "topic", "partition_result", "partition_id"),),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: (_partition_errors("responses"),),
    # A partition of this response has no error code.
    ApiKey.LIST_PARTITION_REASSIGNMENTS: (TopicList("topics", partitions="partitions", index="partition_index"),),
    ApiKey.OFFSET_DELETE: (_partition_errors(),),
    ApiKey.DESCRIBE_QUORUM: (_partition_errors(name="topic_name"),),
    ApiKey.DESCRIBE_PRODUCERS: (_partition_errors(),),
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: (
        TopicList(
            "topics",
            partitions="partitions",
            index="partition_index",
            error="error_code",
            topic_error="error_code",
        ),
    ),
    ApiKey.SHARE_FETCH: (_partition_errors_by_id("responses"),),
    ApiKey.SHARE_ACKNOWLEDGE: (_partition_errors_by_id("responses"),),
    ApiKey.INITIALIZE_SHARE_GROUP_STATE: (_SHARE_STATE_RESPONSE,),
    ApiKey.READ_SHARE_GROUP_STATE: (_SHARE_STATE_RESPONSE,),
    ApiKey.WRITE_SHARE_GROUP_STATE: (_SHARE_STATE_RESPONSE,),
    ApiKey.DELETE_SHARE_GROUP_STATE: (_SHARE_STATE_RESPONSE,),
    ApiKey.READ_SHARE_GROUP_STATE_SUMMARY: (_SHARE_STATE_RESPONSE,),
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: (
        TopicList(
            "topics",
            "topic_name",
            partitions="partitions",
            index="partition_index",
            owners="groups",
            owner_key="group_id",
            error="error_code",
        ),
    ),
    ApiKey.ALTER_SHARE_GROUP_OFFSETS: (_partition_errors("responses", "topic_name"),),
    ApiKey.DELETE_SHARE_GROUP_OFFSETS: (_topic_errors("responses", "topic_name"),),
}


def response_lists(api: Api) -> tuple[TopicList, ...]:
    """Return the lists of topics in the API's responses, in the order of request_lists; () for none."""
    return RESPONSE_LISTS.get(api.key, ())
