"""What stands in an answer for each thing that a request named and that failed: topics, partitions, groups, and so on.

Source: the getErrorResponse methods of org.apache.kafka.common.requests, Kafka 4.3.0; measured for every API and
version by tests/golden/error_answers-4.3.0.jsonl.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from ..api_keys import Api, ApiKey
from ..error_messages import ERROR_MESSAGES
from ..message import Message
from ..message_types import element_type, elements
from ..topic_lists import TopicList

# The APIs whose error entries carry Kafka's text of the error; others leave it null, where they have a place for it.
_WITH_TEXT = frozenset(
    {
        ApiKey.FIND_COORDINATOR,
        ApiKey.DESCRIBE_CONFIGS,
        ApiKey.ALTER_CLIENT_QUOTAS,
        ApiKey.DESCRIBE_QUORUM,
        ApiKey.UNREGISTER_BROKER,
        ApiKey.ADD_RAFT_VOTER,
        ApiKey.REMOVE_RAFT_VOTER,
        ApiKey.READ_SHARE_GROUP_STATE,
        ApiKey.WRITE_SHARE_GROUP_STATE,
        ApiKey.READ_SHARE_GROUP_STATE_SUMMARY,
        ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
        ApiKey.ALTER_SHARE_GROUP_OFFSETS,
        ApiKey.DELETE_SHARE_GROUP_OFFSETS,
    }
)

# Where Kafka says that there is no such node.
NO_NODE: dict[str, object] = {"node_id": -1, "port": -1}

# What a partition's entry says besides the error, where it is not the field's default.
_PARTITION_VALUES: dict[ApiKey, dict[str, object]] = {
    ApiKey.PRODUCE: {"base_offset": -1},
    ApiKey.FETCH: {"high_watermark": -1, "records": b""},
    ApiKey.LIST_OFFSETS: {"offset": -1, "timestamp": -1},
    ApiKey.OFFSET_FETCH: {"committed_offset": -1, "metadata": ""},
    ApiKey.DELETE_RECORDS: {"low_watermark": -1},
}


@dataclass(frozen=True, slots=True)
class EntryList:
    """A list of an answer that has one entry for each element of a list of the request, topics apart.

    key: the field of the entry for an element that is bare text. copied: the fields taken over from any other.
    """

    asked: str
    given: str
    key: str = ""
    copied: tuple[str, ...] = ()


ENTRY_LISTS: dict[ApiKey, EntryList] = {
    ApiKey.OFFSET_FETCH: EntryList("groups", "groups", copied=("group_id",)),
    ApiKey.FIND_COORDINATOR: EntryList("coordinator_keys", "coordinators", key="key"),
    ApiKey.DESCRIBE_GROUPS: EntryList("groups", "groups", key="group_id"),
    ApiKey.DELETE_GROUPS: EntryList("groups_names", "results", key="group_id"),
    ApiKey.CONSUMER_GROUP_DESCRIBE: EntryList("group_ids", "groups", key="group_id"),
    ApiKey.SHARE_GROUP_DESCRIBE: EntryList("group_ids", "groups", key="group_id"),
    ApiKey.STREAMS_GROUP_DESCRIBE: EntryList("group_ids", "groups", key="group_id"),
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: EntryList("groups", "groups", copied=("group_id",)),
    ApiKey.DESCRIBE_TRANSACTIONS: EntryList("transactional_ids", "transaction_states", key="transactional_id"),
    ApiKey.CREATE_ACLS: EntryList("creations", "results"),
    ApiKey.DELETE_ACLS: EntryList("filters", "filter_results"),
    ApiKey.ALTER_CLIENT_QUOTAS: EntryList("entries", "entries", copied=("entity",)),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: EntryList("users", "results"),
}


def set_error(api: Api, message: object, field: str, code: int) -> None:
    """Set the error code of an answer or of an entry of it, and the text with it where Kafka sends one."""
    setattr(message, field, code)
    if hasattr(message, "error_message"):
        set_values(message, {"error_message": ERROR_MESSAGES.get(code) if api.key in _WITH_TEXT else None})


def set_values(message: object, values: dict[str, object]) -> None:
    """Set fields by their names."""
    for name, value in values.items():
        setattr(message, name, value)


def new_entry(api: Api, owner: object, list_field: str, code: int) -> Message:
    """Append an entry with the error to a list of the answer, and return it."""
    entry = element_type(owner, list_field)()
    set_error(api, entry, "error_code", code)
    elements(owner, list_field).append(entry)
    return entry


def add_entries(api: Api, request: Message, answer: Message, code: int) -> None:
    """Append the error entries of all that the request names and that are no topics."""
    lists = ENTRY_LISTS.get(api.key)
    if lists is None:
        return
    for element in elements(request, lists.asked):
        entry = new_entry(api, answer, lists.given, code)
        if lists.key:
            set_values(entry, {lists.key: element})
        if api.key is ApiKey.FIND_COORDINATOR:
            set_values(entry, NO_NODE)
        set_values(entry, {name: cast(object, getattr(element, name)) for name in lists.copied})


def new_owner(asked: TopicList, given: TopicList, owner: object, answer: Message) -> Message:
    """Append what holds a list of topics, for the group or transaction of a request."""
    entry = element_type(answer, given.owners)()
    set_values(entry, {given.owner_key: cast(object, getattr(owner, asked.owner_key))})
    elements(answer, given.owners).append(entry)
    return entry


def new_topic(asked: TopicList, given: TopicList, topic: object, owner: object) -> Message:
    """Append a topic's entry, without an error and without partitions, for the topic that a request names."""
    entry = element_type(owner, given.topics)()
    if given.name and (asked.name or isinstance(topic, str)):
        name = topic if isinstance(topic, str) else cast(object, getattr(topic, asked.name))
        set_values(entry, {given.name: name})
    for taken, put in ((asked.topic_id, given.topic_id), (asked.resource_type, given.resource_type)):
        if taken and put:
            set_values(entry, {put: cast(object, getattr(topic, taken))})
    elements(owner, given.topics).append(entry)
    return entry


def new_partition(api: Api, given: TopicList, topic_entry: object, index: int, code: int) -> None:
    """Append a partition's entry with the error to a topic's entry."""
    entry = element_type(topic_entry, given.partitions)()
    set_values(entry, {**_PARTITION_VALUES.get(api.key, {}), given.index: index})
    if given.error:
        set_error(api, entry, given.error, code)
    elements(topic_entry, given.partitions).append(entry)
