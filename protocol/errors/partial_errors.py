"""Errors for some topics and partitions of a request, while the others are handled normally.

Before the request is handled, remove_selected removes the topics and partitions that must fail; add_errors adds their
error entries to the response. After the request was handled, overwrite_errors replaces the error codes in the response.

A PartSelector chooses what fails. It is called with a topic's name and a partition's index for errors by partition, and
with the name and None for errors by topic (CreateTopics; a topic of Metadata). In most APIs an error for a whole topic
is an error for each of its partitions, so a selector of whole topics must return true for both calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast

from ..api_keys import Api, ApiKey
from ..message import Message
from ..message_types import elements, request_type
from ..primitives import Reader, Writer
from ..topic_lists import TopicList, TopicNameOf, request_lists, response_lists
from .error_entries import new_owner, new_partition, new_topic, set_error, set_values
from .response_frames import decode_response_frame, encode_response_frame, error_holders

# Whether a partition fails, by topic name and partition index. With None for the index: whether the topic fails.
PartSelector = Callable[[str, "int | None"], bool]

# From this version on, an empty list of topics in Metadata means no topics. Before, it means all topics.
_METADATA_OF_NONE_SINCE = 1


def can_report_error(api: Api, scope: str) -> bool:
    """Whether the API's responses have an error code for this scope: "partition", "topic" or "request".

    The scope "topic" is also supported if only the partitions of a topic have an error code.
    """
    if scope == "partition":
        return any(each.error for each in response_lists(api))
    if scope == "topic":
        return any(each.error or each.topic_error for each in response_lists(api))
    if scope == "request":
        return True
    raise ValueError(f"scope {scope!r}; allowed: partition, topic, request")


@dataclass(frozen=True, slots=True)
class _Selection:
    """A selector, and the fields of one list of topics in the request and the response."""

    api: Api
    request_list: TopicList
    response_list: TopicList
    is_selected: PartSelector
    topic_name_of: TopicNameOf

    def is_topic_selected(self, name: str) -> bool:
        """Whether the topic's entry gets the error."""
        return bool(self.response_list.topic_error) and self.is_selected(name, None)

    def is_partition_selected(self, name: str, index: int) -> bool:
        """Whether the partition's entry gets the error."""
        return bool(self.response_list.error) and self.is_selected(name, index)

    def request_topics(self, owner: object) -> Iterator[tuple[str, object]]:
        """Yield name and element of each known topic of an owner in the request."""
        return self.request_list.topics_of(owner, self.topic_name_of)

    def response_topics(self, owner: object) -> Iterator[tuple[str, object]]:
        """Yield name and element of each known topic of an owner in the response."""
        return self.response_list.topics_of(owner, self.topic_name_of)


def _selections(api: Api, is_selected: PartSelector, topic_name_of: TopicNameOf) -> list[_Selection]:
    """Return one for each list of topics. Raises ValueError if the responses have no error code for topics."""
    if not can_report_error(api, "topic"):
        raise ValueError(f"{api.name}: the response has no error code for a topic or partition")
    lists = zip(request_lists(api), response_lists(api), strict=True)
    return [
        _Selection(api, request_list, response_list, is_selected, topic_name_of)
        for request_list, response_list in lists
    ]


def remove_selected(
    api: Api, version: int, body: memoryview, is_selected: PartSelector, topic_name_of: TopicNameOf
) -> bytes | None:
    """Return the body of the request without the selected topics and partitions; None if nothing else is left.

    body: the request without its header; returned unchanged if nothing in it is selected.
    A Fetch keeps all partitions, because its session (KIP-227) must keep them; its max_wait_ms becomes 0.
    A Metadata request of which nothing is left stays, because it also asks for the cluster.
    A partition that the request does not list (Metadata) is not removed.
    Raises FrameError if the body does not decode, ValueError if responses have no errors by topic.
    """
    selection = _selections(api, is_selected, topic_name_of)
    request = request_type(api).read(Reader.of_request(body), version)
    if api.key is ApiKey.FETCH:
        if not any(_has_selected(each, request) for each in selection):
            return bytes(body)
        # Kafka responds to a Fetch without a wait if one of its partitions has an error.
        set_values(request, {"max_wait_ms": 0})
        return _encoded(request, version)
    removal = _Removal()
    for each in selection:
        removal.remove(each, request)
    if not removal.is_changed:
        return bytes(body)
    keeps_nothing = api.key is ApiKey.METADATA and version >= _METADATA_OF_NONE_SINCE
    return _encoded(request, version) if removal.left or keeps_nothing else None


def _encoded(request: Message, version: int) -> bytes:
    writer = Writer()
    request.write(writer, version)
    return writer.getvalue()


def _has_selected(selection: _Selection, request: Message) -> bool:
    return any(
        selection.is_partition_selected(name, selection.request_list.partition_index(partition))
        for name, topic in selection.request_list.named_topics(request, selection.topic_name_of)
        for partition in elements(topic, selection.request_list.partitions)
    )


class _Removal:
    """Removes the selected parts from a request.

    left: the number of topics that stay, plus the number of groups or transactions that stay.
    """

    __slots__ = ("is_changed", "left")

    def __init__(self) -> None:
        self.is_changed = False
        self.left = 0

    def remove(self, selection: _Selection, request: Message) -> None:
        """Remove the selected parts from one list of topics, and each topic and owner that is then empty."""
        owners = selection.request_list.owner_messages(request)
        kept_owners: list[object] = []
        for owner in owners:
            topics = elements(owner, selection.request_list.topics)
            kept = [topic for topic in topics if self._keeps(selection, topic)]
            self.left += len(kept)
            if kept or not topics:
                kept_owners.append(owner)
            topics[:] = kept
        if selection.request_list.owners:
            self.left += len(kept_owners)
            owners[:] = kept_owners

    def _keeps(self, selection: _Selection, topic: object) -> bool:
        """Remove the selected partitions from a topic, and return whether the topic stays."""
        name = selection.request_list.topic_name(topic, selection.topic_name_of)
        if name is None:
            return True
        if not selection.request_list.partitions:
            is_kept = not selection.is_topic_selected(name)
            self.is_changed |= not is_kept
            return is_kept
        partitions = elements(topic, selection.request_list.partitions)
        kept = [
            each
            for each in partitions
            if not selection.is_partition_selected(name, selection.request_list.partition_index(each))
        ]
        if len(kept) == len(partitions):
            return True
        self.is_changed = True
        partitions[:] = kept
        return bool(kept)


def add_errors(
    api: Api,
    version: int,
    frame: bytes | bytearray,
    body: memoryview,
    is_selected: PartSelector,
    code: int,
    topic_name_of: TopicNameOf,
) -> bytearray:
    """Return the response frame with an error entry for each selected topic and partition of the request.

    frame: the response to what remove_selected returned. body: the request as received, without its header.
    A selected part that the response has an entry for (all topics, a fetch session) gets the error in that entry.
    Raises FrameError if one of them does not decode, ValueError if responses have no errors by topic.
    """
    selection = _selections(api, is_selected, topic_name_of)
    request = request_type(api).read(Reader.of_request(body), version)
    correlation_id, response = decode_response_frame(api, version, frame)
    for each in selection:
        _replace_selected(each, response, code)
        entries = _Entries(each, response)
        for owner in each.request_list.owner_messages(request):
            for name, topic in each.request_topics(owner):
                entries.add_selected(owner, name, topic, code)
    return encode_response_frame(api, version, correlation_id, response)


def _replace_selected(selection: _Selection, response: Message, code: int) -> None:
    response_list = selection.response_list
    for name, topic in response_list.named_topics(response, selection.topic_name_of):
        if selection.is_topic_selected(name):
            set_error(selection.api, topic, response_list.topic_error, code)
            if response_list.partitions:
                elements(topic, response_list.partitions).clear()
        partitions = elements(topic, response_list.partitions) if response_list.partitions else []
        for position in range(len(partitions)):
            partition = partitions[position]
            index = response_list.partition_index(partition)
            if not selection.is_partition_selected(name, index):
                continue
            if response_list.topic_error:
                # Metadata keeps the other fields of a partition.
                set_error(selection.api, partition, response_list.error, code)
            else:
                new_partition(selection.api, response_list, topic, index, code)
                partitions[position] = partitions.pop()


class _Entries:
    """The entries of a response by owner and topic, and new ones for those that it does not have yet."""

    def __init__(self, selection: _Selection, response: Message) -> None:
        self._selection = selection
        self._response = response
        self._owners: dict[object, object] = {}
        # By owner and name.
        self._topics: dict[tuple[object, str], object] = {}
        response_list = selection.response_list
        for owner in response_list.owner_messages(response):
            key = cast(object, getattr(owner, response_list.owner_key)) if response_list.owners else None
            self._owners.setdefault(key, owner)
            for name, entry in selection.response_topics(owner):
                self._topics.setdefault((key, name), entry)

    def add_selected(self, owner: object, name: str, topic: object, code: int) -> None:
        """Add the error entries of a topic of the request. owner: the element of the request that holds the topic."""
        selection = self._selection
        if not selection.request_list.partitions:
            if selection.is_topic_selected(name):
                entry = self._topic(owner, name, topic)
                set_error(selection.api, entry, selection.response_list.topic_error, code)
            return
        indexes = [
            selection.request_list.partition_index(each) for each in elements(topic, selection.request_list.partitions)
        ]
        failed = [index for index in indexes if selection.is_partition_selected(name, index)]
        if not failed:
            return
        entry = self._topic(owner, name, topic)
        present = {
            selection.response_list.partition_index(each)
            for each in elements(entry, selection.response_list.partitions)
        }
        for index in dict.fromkeys(failed):
            if index not in present:
                new_partition(selection.api, selection.response_list, entry, index, code)

    def _topic(self, owner: object, name: str, topic: object) -> object:
        """Return the topic's entry in the response; a new one if there is none."""
        request_list, response_list = self._selection.request_list, self._selection.response_list
        key = cast(object, getattr(owner, request_list.owner_key)) if response_list.owners else None
        entry = self._topics.get((key, name))
        if entry is None:
            if key not in self._owners:
                self._owners[key] = new_owner(request_list, response_list, owner, self._response)
            entry = self._topics[key, name] = new_topic(request_list, response_list, topic, self._owners[key])
            if response_list.name:
                set_values(entry, {response_list.name: name})
        return entry


def overwrite_errors(
    api: Api,
    version: int,
    frame: bytes | bytearray,
    is_selected: PartSelector | None,
    code: int,
    topic_name_of: TopicNameOf,
) -> bytearray:
    """Return the response frame with code as the error code of the selected parts; no other field changes.

    is_selected: None for every error code in the response.
    Raises FrameError if the frame does not decode, ValueError if responses have no errors by topic.
    """
    correlation_id, response = decode_response_frame(api, version, frame)
    if is_selected is None:
        for holder, name in error_holders(response):
            setattr(holder, name, code)
        return encode_response_frame(api, version, correlation_id, response)
    for selection in _selections(api, is_selected, topic_name_of):
        response_list = selection.response_list
        for name, topic in response_list.named_topics(response, topic_name_of):
            if selection.is_topic_selected(name):
                setattr(topic, response_list.topic_error, code)
            for partition in elements(topic, response_list.partitions) if response_list.partitions else ():
                if selection.is_partition_selected(name, response_list.partition_index(partition)):
                    setattr(partition, response_list.error, code)
    return encode_response_frame(api, version, correlation_id, response)
