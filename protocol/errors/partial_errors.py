"""Errors for some topics and partitions of a request, while the others are handled normally.

Before the request is handled, SelectedParts takes the topics and partitions that must fail out of it, and afterwards it
adds their error entries to the response. overwrite_errors replaces the error codes of a response.

A PartSelector chooses what fails. It is called with a topic's name and a partition's index for errors by partition, and
with the name and None for errors by topic (CreateTopics; a topic of Metadata). In most APIs an error for a whole topic
is an error for each of its partitions, so a selector of whole topics must return true for both calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, cast

from ..api_keys import Api, ApiKey
from ..apis.fields import TopicList, TopicNameOf
from ..message import Message
from ..message_fields import elements, set_values
from .error_entries import new_owner, new_partition, new_topic, set_error
from .response_frames import error_holders

# Whether a partition fails, by topic name and partition index. With None for the index: whether the topic fails.
PartSelector = Callable[[str, "int | None"], bool]

# From this version on, an empty list of topics in Metadata means no topics. Before, it means all topics.
_METADATA_OF_NONE_SINCE = 1


def can_report_error(api: Api, scope: str) -> bool:
    """Whether the API's responses have an error code for this scope: "partition", "topic" or "request".

    The scope "topic" is also supported if only the partitions of a topic have an error code.
    """
    if scope == "partition":
        return any(each.error for each in api.responses)
    if scope == "topic":
        return any(each.error or each.topic_error for each in api.responses)
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
    lists = zip(api.requests, api.responses, strict=True)
    return [
        _Selection(api, request_list, response_list, is_selected, topic_name_of)
        for request_list, response_list in lists
    ]


class _SelectedTopic(NamedTuple):
    """A topic of a request with the indexes of its selected partitions; none for an error of the topic itself."""

    owner: object
    name: str
    topic: object
    indexes: tuple[int, ...]


class SelectedParts:
    """The topics and partitions of a request that a selector chooses.

    A partition that the request does not list (Metadata) is not among them; its entry in the response gets the error.
    """

    __slots__ = ("_api", "_request", "_topics")

    def __init__(self, api: Api, request: Message, is_selected: PartSelector, topic_name_of: TopicNameOf) -> None:
        """Find them. Raises ValueError if responses have no errors by topic."""
        self._api = api
        self._request = request
        # By list of topics.
        self._topics = [
            (each, list(_selected_topics(each, request))) for each in _selections(api, is_selected, topic_name_of)
        ]

    def __bool__(self) -> bool:
        """Return whether there are any."""
        return any(topics for _, topics in self._topics)

    def remove(self, version: int) -> bool:
        """Take them out of the request, and return whether something is left to handle.

        A Fetch keeps all partitions, because its session (KIP-227) must keep them; its max_wait_ms becomes 0.
        A Metadata request of which nothing is left stays, because it also asks for the cluster.
        """
        if not self:
            return True
        if self._api.key is ApiKey.FETCH:
            # Kafka responds to a Fetch without a wait if one of its partitions has an error.
            set_values(self._request, {"max_wait_ms": 0})
            return True
        left = 0
        for selection, topics in self._topics:
            gone = {id(found.topic) for found in topics if not _keep_rest(selection.request_list, found)}
            left += _remove_topics(selection.request_list, self._request, gone)
        return left > 0 or (self._api.key is ApiKey.METADATA and version >= _METADATA_OF_NONE_SINCE)

    def add_errors(self, response: Message, code: int) -> None:
        """Add an error entry for each of them to the response.

        One that the response has an entry for (all topics, a fetch session) gets the error in that entry.
        """
        for selection, topics in self._topics:
            _replace_selected(selection, response, code)
            entries = _Entries(selection, response)
            for found in topics:
                entries.add(found, code)


def _selected_topics(selection: _Selection, request: Message) -> Iterator[_SelectedTopic]:
    request_list = selection.request_list
    for owner in request_list.owner_messages(request):
        for name, topic in selection.request_topics(owner):
            if not request_list.partitions:
                if selection.is_topic_selected(name):
                    yield _SelectedTopic(owner, name, topic, ())
                continue
            indexes = (request_list.partition_index(each) for each in elements(topic, request_list.partitions))
            selected = tuple(index for index in dict.fromkeys(indexes) if selection.is_partition_selected(name, index))
            if selected:
                yield _SelectedTopic(owner, name, topic, selected)


def _keep_rest(request_list: TopicList, found: _SelectedTopic) -> bool:
    """Remove the selected partitions from their topic, and return whether it has others."""
    if not request_list.partitions:
        return False
    selected = frozenset(found.indexes)
    partitions = elements(found.topic, request_list.partitions)
    partitions[:] = [each for each in partitions if request_list.partition_index(each) not in selected]
    return bool(partitions)


def _remove_topics(request_list: TopicList, request: Message, gone: set[int]) -> int:
    """Remove topics by identity, and each owner that is then empty. Return how many topics and owners stay."""
    left = 0
    owners = request_list.owner_messages(request)
    kept_owners: list[object] = []
    for owner in owners:
        topics = elements(owner, request_list.topics)
        kept = [topic for topic in topics if id(topic) not in gone]
        left += len(kept)
        if kept or not topics:
            kept_owners.append(owner)
        topics[:] = kept
    if request_list.owners:
        left += len(kept_owners)
        owners[:] = kept_owners
    return left


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
    """Finds the entries of a response by owner and topic, and adds missing ones."""

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

    def add(self, found: _SelectedTopic, code: int) -> None:
        """Add the error entries of a topic of the request."""
        api, response_list = self._selection.api, self._selection.response_list
        entry = self._topic(found.owner, found.name, found.topic)
        if not found.indexes:
            set_error(api, entry, response_list.topic_error, code)
            return
        present = {response_list.partition_index(each) for each in elements(entry, response_list.partitions)}
        for index in found.indexes:
            if index not in present:
                new_partition(api, response_list, entry, index, code)

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
    api: Api, response: Message, is_selected: PartSelector | None, code: int, topic_name_of: TopicNameOf
) -> None:
    """Set code as the error code of the selected parts of a response; no other field changes.

    is_selected: None for every error code in the response. Raises ValueError if responses have no errors by topic.
    """
    if is_selected is None:
        for holder, name in error_holders(response):
            setattr(holder, name, code)
        return
    for selection in _selections(api, is_selected, topic_name_of):
        response_list = selection.response_list
        for name, topic in response_list.named_topics(response, topic_name_of):
            if selection.is_topic_selected(name):
                setattr(topic, response_list.topic_error, code)
            for partition in elements(topic, response_list.partitions) if response_list.partitions else ():
                if selection.is_partition_selected(name, response_list.partition_index(partition)):
                    setattr(partition, response_list.error, code)
