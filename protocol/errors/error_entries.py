"""Error entries of a response: one for each topic, partition, group and so on that the request names.

Source: the getErrorResponse methods of org.apache.kafka.common.requests, Kafka 4.3.0. The file
tests/golden/error_answers-4.3.0.jsonl holds their results for every API and version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from ..api_keys import Api, ApiKey
from ..error_messages import ERROR_MESSAGES
from ..message import Message
from ..message_types import element_type, elements
from ..topic_lists import TopicList

# The APIs whose error entries carry Kafka's text of the error. The others leave error_message null.
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

# FindCoordinator's node fields for an unknown coordinator.
NO_NODE: dict[str, object] = {"node_id": -1, "port": -1}

# Fields of a partition's error entry whose value is not the default of the message.
_PARTITION_VALUES: dict[ApiKey, dict[str, object]] = {
    ApiKey.PRODUCE: {"base_offset": -1},
    ApiKey.FETCH: {"high_watermark": -1, "records": b""},
    ApiKey.LIST_OFFSETS: {"offset": -1, "timestamp": -1},
    ApiKey.OFFSET_FETCH: {"committed_offset": -1, "metadata": ""},
    ApiKey.DELETE_RECORDS: {"low_watermark": -1},
}


@dataclass(frozen=True, slots=True)
class EntryList:
    """The field names of a list in the request and of the list in the response with one entry for each element.

    key: the field of the entry that holds the element, if the elements are strings.
    copied: the fields that are copied from the element, if the elements are messages.
    """

    request_field: str
    response_field: str
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
    """Set the error code of a response or of an entry, and error_message where Kafka sends a text with it."""
    setattr(message, field, code)
    if hasattr(message, "error_message"):
        set_values(message, {"error_message": ERROR_MESSAGES.get(code) if api.key in _WITH_TEXT else None})


def set_values(message: object, values: dict[str, object]) -> None:
    """Set the fields of a message, by name."""
    for name, value in values.items():
        setattr(message, name, value)


def new_entry(api: Api, owner: object, list_field: str, code: int) -> Message:
    """Append an entry with the error to a list of owner, and return the entry."""
    entry = element_type(owner, list_field)()
    set_error(api, entry, "error_code", code)
    elements(owner, list_field).append(entry)
    return entry


def add_entries(api: Api, request: Message, response: Message, code: int) -> None:
    """Append the error entries for the elements of the API's EntryList."""
    lists = ENTRY_LISTS.get(api.key)
    if lists is None:
        return
    for element in elements(request, lists.request_field):
        entry = new_entry(api, response, lists.response_field, code)
        if lists.key:
            set_values(entry, {lists.key: element})
        if api.key is ApiKey.FIND_COORDINATOR:
            set_values(entry, NO_NODE)
        set_values(entry, {name: cast(object, getattr(element, name)) for name in lists.copied})


def new_owner(request_list: TopicList, response_list: TopicList, owner: object, response: Message) -> Message:
    """Append the response's element that holds the topics of owner, a group or transaction of the request."""
    entry = element_type(response, response_list.owners)()
    set_values(entry, {response_list.owner_key: cast(object, getattr(owner, request_list.owner_key))})
    elements(response, response_list.owners).append(entry)
    return entry


def new_topic(request_list: TopicList, response_list: TopicList, topic: object, owner: object) -> Message:
    """Append an entry without error and partitions for a topic of the request, and return it."""
    entry = element_type(owner, response_list.topics)()
    if response_list.name and (request_list.name or isinstance(topic, str)):
        name = topic if isinstance(topic, str) else cast(object, getattr(topic, request_list.name))
        set_values(entry, {response_list.name: name})
    for source, target in (
        (request_list.topic_id, response_list.topic_id),
        (request_list.resource_type, response_list.resource_type),
    ):
        if source and target:
            set_values(entry, {target: cast(object, getattr(topic, source))})
    elements(owner, response_list.topics).append(entry)
    return entry


def new_partition(api: Api, response_list: TopicList, topic_entry: object, index: int, code: int) -> None:
    """Append a partition's entry with the error to a topic's entry."""
    entry = element_type(topic_entry, response_list.partitions)()
    set_values(entry, {**_PARTITION_VALUES.get(api.key, {}), response_list.index: index})
    if response_list.error:
        set_error(api, entry, response_list.error, code)
    elements(topic_entry, response_list.partitions).append(entry)
