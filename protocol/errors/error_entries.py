"""Error entries of a response: one for each topic, partition, group and so on that the request names.

Source: the getErrorResponse methods of org.apache.kafka.common.requests, Kafka 4.3.0. The file
tests/golden/error_answers-4.3.0.jsonl holds their results for every API and version.
"""

from __future__ import annotations

from typing import cast

from ..api_keys import Api, ApiKey
from ..apis.fields import NO_NODE, TopicList
from ..error_messages import ERROR_MESSAGES
from ..message import Message
from ..message_fields import elements, set_values
from ..message_types import element_type


def set_error(api: Api, message: object, field: str, code: int) -> None:
    """Set the error code of a response or of an entry, and error_message where Kafka sends a text with it."""
    setattr(message, field, code)
    if hasattr(message, "error_message"):
        set_values(message, {"error_message": ERROR_MESSAGES.get(code) if api.errors.has_text else None})


def new_entry(api: Api, owner: object, list_field: str, code: int) -> Message:
    """Append an entry with the error to a list of owner, and return the entry."""
    entry = element_type(owner, list_field)()
    set_error(api, entry, "error_code", code)
    elements(owner, list_field).append(entry)
    return entry


def add_entries(api: Api, request: Message, response: Message, code: int) -> None:
    """Append the error entries for the elements of the API's EntryList."""
    lists = api.entries
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
    set_values(entry, {**api.errors.partition_values, response_list.partition: index})
    if response_list.error:
        set_error(api, entry, response_list.error, code)
    elements(topic_entry, response_list.partitions).append(entry)
