"""Errors for some topics and partitions of a request, while the others are served or were served.

Before a request is applied it is cut: remove_selected leaves out what shall fail, the rest is handled, and
add_errors puts what was left out into the answer. After it was applied, overwrite_errors makes the answer lie.
Which parts are meant is told by a PartSelector. It is asked with a topic's name and a partition's index for what fails
partition by partition, and with the name and None for what fails topic by topic (CreateTopics; a topic of Metadata).
An error for all of a topic is one for each of its partitions in most APIs: say yes to both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..api_keys import Api, ApiKey
from ..message import Message
from ..message_types import elements, request_type
from ..primitives import Reader, Writer
from ..topic_lists import TopicList, TopicNameOf, request_lists, response_lists
from .error_entries import new_owner, new_partition, new_topic, set_error, set_values
from .response_frames import decode_response_frame, encode_response_frame, error_holders

# Whether the partition of the topic shall fail; None: the topic as a whole.
PartSelector = Callable[[str, "int | None"], bool]

# From this version on, Metadata that names no topic asks for none; before, for all.
_METADATA_OF_NONE_SINCE = 1


def can_report_error(api: Api, scope: str) -> bool:
    """Whether the API's answers have a place for an error of this scope: "partition", "topic" or "request".

    A topic without an error of its own fails by its partitions.
    """
    if scope == "partition":
        return any(each.error for each in response_lists(api))
    if scope == "topic":
        return any(each.error or each.topic_error for each in response_lists(api))
    if scope == "request":
        return True
    raise ValueError(f"scope {scope!r}; allowed: partition, topic, request")


@dataclass(frozen=True, slots=True)
class _Parts:
    """What is chosen, and where one list of topics stands in request and answer."""

    api: Api
    asked: TopicList
    given: TopicList
    chosen: PartSelector
    topic_name_of: TopicNameOf

    def is_topic_chosen(self, name: str) -> bool:
        """Whether the topic's entry shall say that it failed as a whole."""
        return bool(self.given.topic_error) and self.chosen(name, None)

    def is_partition_chosen(self, name: str, index: int) -> bool:
        """Whether the partition's entry shall say that it failed."""
        return bool(self.given.error) and self.chosen(name, index)

    def asked_topics(self, owner: object) -> Iterator[tuple[str, object]]:
        """Yield name and element of each known topic that an owner of the request has."""
        return self.asked.topics_of(owner, self.topic_name_of)

    def given_topics(self, owner: object) -> Iterator[tuple[str, object]]:
        """Yield name and element of each known topic that an owner of the answer has."""
        return self.given.topics_of(owner, self.topic_name_of)


def _all_parts(api: Api, chosen: PartSelector, topic_name_of: TopicNameOf) -> list[_Parts]:
    """Return one for each list of topics; raises ValueError where answers have no place for the error of one."""
    if not can_report_error(api, "topic"):
        raise ValueError(f"an answer to {api.name} has no place for the error of a topic or partition")
    lists = zip(request_lists(api), response_lists(api), strict=True)
    return [_Parts(api, asked, given, chosen, topic_name_of) for asked, given in lists]


def remove_selected(
    api: Api, version: int, body: memoryview, chosen: PartSelector, topic_name_of: TopicNameOf
) -> bytes | None:
    """Return the body of the request without what is chosen, as it was if that is nothing; None if nothing is left.

    A Fetch keeps all its partitions, so that its session (KIP-227) keeps them too, and is told not to wait; Metadata
    keeps asking for the cluster. What fails within a topic the request only names (a partition of Metadata) stays.
    Raises FrameError where the body does not decode, ValueError where answers have no errors by topic.
    """
    parts = _all_parts(api, chosen, topic_name_of)
    request = request_type(api).read(Reader(body), version)
    if api.key is ApiKey.FETCH:
        if not any(_names_chosen(each, request) for each in parts):
            return bytes(body)
        # Kafka answers at once when a partition of a fetch has failed.
        set_values(request, {"max_wait_ms": 0})
        return _encoded(request, version)
    cut = _Cut()
    for each in parts:
        cut.leave_out(each, request)
    if not cut.is_changed:
        return bytes(body)
    keeps_nothing = api.key is ApiKey.METADATA and version >= _METADATA_OF_NONE_SINCE
    return _encoded(request, version) if cut.left or keeps_nothing else None


def _encoded(request: Message, version: int) -> bytes:
    writer = Writer()
    request.write(writer, version)
    return writer.getvalue()


def _names_chosen(parts: _Parts, request: Message) -> bool:
    return any(
        parts.is_partition_chosen(name, parts.asked.partition_index(partition))
        for name, topic in parts.asked.named_topics(request, parts.topic_name_of)
        for partition in elements(topic, parts.asked.partitions)
    )


class _Cut:
    """Leaves out of a request what is chosen. left: how much is still asked for, topics and what holds them."""

    __slots__ = ("is_changed", "left")

    def __init__(self) -> None:
        self.is_changed = False
        self.left = 0

    def leave_out(self, parts: _Parts, request: Message) -> None:
        """Take the chosen out of one list of topics, and whatever is empty then."""
        owners = parts.asked.owner_messages(request)
        kept_owners: list[object] = []
        for owner in owners:
            topics = elements(owner, parts.asked.topics)
            kept = [topic for topic in topics if self._keeps(parts, topic)]
            self.left += len(kept)
            if kept or not topics:
                kept_owners.append(owner)
            topics[:] = kept
        if parts.asked.owners:
            self.left += len(kept_owners)
            owners[:] = kept_owners

    def _keeps(self, parts: _Parts, topic: object) -> bool:
        """Take the chosen out of a topic, and return whether the topic itself stays."""
        name = parts.asked.topic_name(topic, parts.topic_name_of)
        if name is None:
            return True
        if not parts.asked.partitions:
            is_kept = not parts.is_topic_chosen(name)
            self.is_changed |= not is_kept
            return is_kept
        partitions = elements(topic, parts.asked.partitions)
        kept = [each for each in partitions if not parts.is_partition_chosen(name, parts.asked.partition_index(each))]
        if len(kept) == len(partitions):
            return True
        self.is_changed = True
        partitions[:] = kept
        return bool(kept)


def add_errors(
    api: Api,
    version: int,
    answer: bytes | bytearray,
    body: memoryview,
    chosen: PartSelector,
    code: int,
    topic_name_of: TopicNameOf,
) -> bytearray:
    """Return the answer with an error entry for each chosen part.

    answer: whole, of the request as remove_selected left it. body: of the request as it came. What the answer says of a
    chosen part by itself (of all topics, of a fetch session) gives way to the error.
    Raises FrameError where one of them does not decode, ValueError where answers have no errors by topic.
    """
    parts = _all_parts(api, chosen, topic_name_of)
    request = request_type(api).read(Reader(body), version)
    correlation_id, response = decode_response_frame(api, version, answer)
    for each in parts:
        _replace_chosen(each, response, code)
        for owner in each.asked.owner_messages(request):
            for name, topic in each.asked_topics(owner):
                _add_chosen(each, (owner, name, topic), response, code)
    return encode_response_frame(api, version, correlation_id, response)


def _replace_chosen(parts: _Parts, response: Message, code: int) -> None:
    given = parts.given
    for name, topic in given.named_topics(response, parts.topic_name_of):
        if parts.is_topic_chosen(name):
            set_error(parts.api, topic, given.topic_error, code)
            if given.partitions:
                elements(topic, given.partitions).clear()
        partitions = elements(topic, given.partitions) if given.partitions else []
        for position in range(len(partitions)):
            partition = partitions[position]
            index = given.partition_index(partition)
            if not parts.is_partition_chosen(name, index):
                continue
            if given.topic_error:
                # What Metadata tells of a partition is told with the error too.
                set_error(parts.api, partition, given.error, code)
            else:
                new_partition(parts.api, given, topic, index, code)
                partitions[position] = partitions.pop()


def _add_chosen(parts: _Parts, asked: tuple[object, str, object], response: Message, code: int) -> None:
    """Add the entries that the answer does not have yet for a topic that the request's owner names."""
    _, name, topic = asked
    if not parts.asked.partitions:
        if parts.is_topic_chosen(name):
            entry = _given_topic(parts, asked, response)
            set_error(parts.api, entry, parts.given.topic_error, code)
        return
    indexes = [parts.asked.partition_index(each) for each in elements(topic, parts.asked.partitions)]
    failed = [index for index in indexes if parts.is_partition_chosen(name, index)]
    if not failed:
        return
    entry = _given_topic(parts, asked, response)
    present = {parts.given.partition_index(each) for each in elements(entry, parts.given.partitions)}
    for index in dict.fromkeys(failed):
        if index not in present:
            new_partition(parts.api, parts.given, entry, index, code)


def _given_topic(parts: _Parts, asked: tuple[object, str, object], response: Message) -> object:
    """Return the topic's entry in the answer, a new one where there is none."""
    owner, name, topic = asked
    given_owner = _given_owner(parts, owner, response)
    for given_name, entry in parts.given_topics(given_owner):
        if given_name == name:
            return entry
    entry = new_topic(parts.asked, parts.given, topic, given_owner)
    if parts.given.name:
        set_values(entry, {parts.given.name: name})
    return entry


def _given_owner(parts: _Parts, owner: object, response: Message) -> object:
    if not parts.given.owners:
        return response
    for entry in elements(response, parts.given.owners):
        if getattr(entry, parts.given.owner_key) == getattr(owner, parts.asked.owner_key):
            return entry
    return new_owner(parts.asked, parts.given, owner, response)


def overwrite_errors(
    api: Api,
    version: int,
    answer: bytes | bytearray,
    chosen: PartSelector | None,
    code: int,
    topic_name_of: TopicNameOf,
) -> bytearray:
    """Return the answer with code in the place of what it says of the chosen parts; nothing else in it is changed.

    chosen: None for every error code there is in it, the answer's own too.
    Raises FrameError where the answer does not decode, ValueError where answers have no errors by topic.
    """
    correlation_id, response = decode_response_frame(api, version, answer)
    if chosen is None:
        for holder, name in error_holders(response):
            setattr(holder, name, code)
        return encode_response_frame(api, version, correlation_id, response)
    for parts in _all_parts(api, chosen, topic_name_of):
        given = parts.given
        for name, topic in given.named_topics(response, topic_name_of):
            if parts.is_topic_chosen(name):
                setattr(topic, given.topic_error, code)
            for partition in elements(topic, given.partitions) if given.partitions else ():
                if parts.is_partition_chosen(name, given.partition_index(partition)):
                    setattr(partition, given.error, code)
    return encode_response_frame(api, version, correlation_id, response)
