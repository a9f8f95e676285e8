"""Where the requests and answers of each API name topics and partitions: the one table of it.

Most messages have a list of topics, each with a list of partitions; some have the lists once for each group,
transaction or folder, some name topics only. All that differs is what the fields are called.
An API whose messages changed their shape with the versions has two lists; one of them is empty in any message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast

from .api_keys import Api, ApiKey
from .message_types import elements, number_in, text_in
from .primitives import ZERO_UUID

# The name that stands for a topic id, or None where there is no such topic.
TopicNameOf = Callable[[bytes], "str | None"]

# ConfigResource.Type of Kafka.
TOPIC_RESOURCE = 2
GROUP_RESOURCE = 32


@dataclass(frozen=True, slots=True)
class TopicList:
    """The names of the fields of one list of topics; "" where the messages have no such field.

    owners, owner_key: a list around it, and what tells its elements apart.
    topics: the list; name, topic_id: of a topic. A list of bare names has neither.
    partitions: the list in each topic; index: of a partition. A list of bare numbers has no index.
    error: the error code of a partition (of a topic, where there are no partitions), in answers.
    topic_error: the error code of a topic with partitions, in answers.
    resource_type: tells which elements are topics, where others stand in the same list.
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
        """Return the messages that hold the list: those around it, or the message itself."""
        return elements(message, self.owners) if self.owners else [message]

    def topic_name(self, topic: object, topic_name_of: TopicNameOf) -> str | None:
        """Return a topic's name, looked up where the element has only its id; None for what is no known topic."""
        if self.resource_type and number_in(topic, self.resource_type, TOPIC_RESOURCE) != TOPIC_RESOURCE:
            return None
        name = topic if isinstance(topic, str) else text_in(topic, self.name) if self.name else ""
        if name or not self.topic_id:
            return name or None
        topic_id = cast(bytes, getattr(topic, self.topic_id))
        return None if topic_id == ZERO_UUID else topic_name_of(topic_id)

    def partition_index(self, partition: object) -> int:
        """Return the index of an element of a topic's partitions."""
        return cast(int, partition) if not self.index else number_in(partition, self.index, -1)

    def named_topics(self, message: object, topic_name_of: TopicNameOf) -> Iterator[tuple[str, object]]:
        """Yield name and element of each known topic, of all owners."""
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
    """Return where the API's requests name topics; () where they name none."""
    return REQUEST_LISTS.get(api.key, ())


def _answers(
    topics: str = "topics", name: str = "name", partitions: str = "partitions", index: str = "partition_index"
) -> TopicList:
    return TopicList(topics, name, partitions=partitions, index=index, error="error_code")


def _answers_by_id(topics: str, partitions: str = "partitions", index: str = "partition_index") -> TopicList:
    return TopicList(topics, "", "topic_id", partitions, index, error="error_code")


def _topic_answers(topics: str, name: str = "name", topic_id: str = "", resource_type: str = "") -> TopicList:
    return TopicList(topics, name, topic_id, topic_error="error_code", resource_type=resource_type)


_SHARE_STATE_ANSWER = _answers_by_id("results", index="partition")
_RESOURCE_ANSWER = _topic_answers("responses", "resource_name", resource_type="resource_type")
_DELETED_TOPICS = _topic_answers("responses", topic_id="topic_id")

# For each list of a request the one of its answer, for all APIs whose answers name topics as the requests do.
RESPONSE_LISTS: dict[ApiKey, tuple[TopicList, ...]] = {
    ApiKey.PRODUCE: (TopicList("responses", "name", "topic_id", "partition_responses", "index", error="error_code"),),
    ApiKey.FETCH: (TopicList("responses", "topic", "topic_id", "partitions", "partition_index", error="error_code"),),
    ApiKey.LIST_OFFSETS: (_answers(),),
    ApiKey.METADATA: (
        TopicList(
            "topics", "name", "topic_id", "partitions", "partition_index", error="error_code", topic_error="error_code"
        ),
    ),
    ApiKey.OFFSET_COMMIT: (
        TopicList("topics", "name", "topic_id", "partitions", "partition_index", error="error_code"),
    ),
    ApiKey.OFFSET_FETCH: (
        _answers(),
        TopicList(
            "topics", "name", "topic_id", "partitions", "partition_index", "groups", "group_id", error="error_code"
        ),
    ),
    ApiKey.CREATE_TOPICS: (_topic_answers("topics"),),
    ApiKey.DELETE_TOPICS: (_DELETED_TOPICS, _DELETED_TOPICS),
    ApiKey.DELETE_RECORDS: (_answers(),),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: (_answers(name="topic", index="partition"),),
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
    ApiKey.TXN_OFFSET_COMMIT: (_answers(),),
    ApiKey.DESCRIBE_CONFIGS: (_topic_answers("results", "resource_name", resource_type="resource_type"),),
    ApiKey.ALTER_CONFIGS: (_RESOURCE_ANSWER,),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: (_RESOURCE_ANSWER,),
    ApiKey.ALTER_REPLICA_LOG_DIRS: (_answers("results", "topic_name"),),
    ApiKey.CREATE_PARTITIONS: (_topic_answers("results"),),
    ApiKey.ELECT_LEADERS: (_answers("replica_election_results", "topic", "partition_result", "partition_id"),),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: (_answers("responses"),),
    # What is answered for a partition here has no error.
    ApiKey.LIST_PARTITION_REASSIGNMENTS: (TopicList("topics", partitions="partitions", index="partition_index"),),
    ApiKey.OFFSET_DELETE: (_answers(),),
    ApiKey.DESCRIBE_QUORUM: (_answers(name="topic_name"),),
    ApiKey.DESCRIBE_PRODUCERS: (_answers(),),
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: (
        TopicList(
            "topics",
            partitions="partitions",
            index="partition_index",
            error="error_code",
            topic_error="error_code",
        ),
    ),
    ApiKey.SHARE_FETCH: (_answers_by_id("responses"),),
    ApiKey.SHARE_ACKNOWLEDGE: (_answers_by_id("responses"),),
    ApiKey.INITIALIZE_SHARE_GROUP_STATE: (_SHARE_STATE_ANSWER,),
    ApiKey.READ_SHARE_GROUP_STATE: (_SHARE_STATE_ANSWER,),
    ApiKey.WRITE_SHARE_GROUP_STATE: (_SHARE_STATE_ANSWER,),
    ApiKey.DELETE_SHARE_GROUP_STATE: (_SHARE_STATE_ANSWER,),
    ApiKey.READ_SHARE_GROUP_STATE_SUMMARY: (_SHARE_STATE_ANSWER,),
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
    ApiKey.ALTER_SHARE_GROUP_OFFSETS: (_answers("responses", "topic_name"),),
    ApiKey.DELETE_SHARE_GROUP_OFFSETS: (_topic_answers("responses", "topic_name"),),
}


def response_lists(api: Api) -> tuple[TopicList, ...]:
    """Return where the API's answers name topics, in the order of request_lists; () where they name none."""
    return RESPONSE_LISTS.get(api.key, ())
