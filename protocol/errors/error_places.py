"""The errors inside a response of any API, each with what it is about: topic, partition, group, member and so on.

The lists of topics are those of the API's record. All other names are fields that have one meaning in every message. A
list is visited only if its elements have an error code at some depth, which the classes of the messages tell.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import count
from typing import NamedTuple

from ..api_keys import Api
from ..apis.fields import TopicList, TopicNameOf
from ..message import Message
from ..message_fields import elements, number_in, text_in
from ..message_types import message_lists
from .response_frames import ERROR_FIELDS

# The elements that are visited in one step: about a millisecond.
ELEMENTS_AT_ONCE = 5_000


class ErrorPlace(NamedTuple):
    """An error code that is not 0, and what it is about; None for what it is not about.

    topic: its id as text, if the topic does not exist. key: of FindCoordinator; the name of a resource or of a user.
    """

    code: int
    topic: str | None = None
    partition: int | None = None
    group_id: str | None = None
    member_id: str | None = None
    transactional_id: str | None = None
    key: str | None = None


class _Branch(NamedTuple):
    """A message, or the elements of a list, with an error code at some depth.

    field: of the list. codes: the fields with error codes. topics: the list of topics that it is, or of whose topics it
    has the partitions.
    """

    field: str
    codes: tuple[str, ...]
    branches: tuple[_Branch, ...]
    topics: TopicList | None = None


class FoundError(NamedTuple):
    """An error code that is not 0. path: the messages from the response to the one that has it."""

    code: int
    path: tuple[tuple[_Branch, object], ...]


def find_errors(api: Api, response: Message) -> Iterator[FoundError | None]:
    """Yield each error of a response, outer ones first, and None after every ELEMENTS_AT_ONCE elements."""
    yield from _visit(((_branches_of(api, type(response)), response),), count(1))


def _visit(path: tuple[tuple[_Branch, object], ...], steps: Iterator[int]) -> Iterator[FoundError | None]:
    """Yield the errors of the last message of the path. steps: counts the elements of the whole response."""
    branch, message = path[-1]
    for field in branch.codes:
        code = number_in(message, field, 0)
        if code:
            yield FoundError(code, path)
    for inner in branch.branches:
        for element in elements(message, inner.field):
            if not next(steps) % ELEMENTS_AT_ONCE:
                yield None
            if inner.branches or any(number_in(element, field, 0) for field in inner.codes):
                yield from _visit((*path, (inner, element)), steps)


def place_of(found: FoundError, topic_name_of: TopicNameOf) -> ErrorPlace:
    """Return what an error is about. topic_name_of: returns the name of a topic id, None for an unknown one."""
    place = ErrorPlace(found.code)
    for branch, element in found.path:
        place = _with_names(place, element)
        topics = branch.topics
        if topics is not None and branch.field == topics.topics:
            place = place._replace(topic=topics.topic_text(element, topic_name_of))
        elif topics is not None:
            place = place._replace(partition=topics.partition_index(element))
    return place


def _with_names(place: ErrorPlace, element: object) -> ErrorPlace:
    """Return the place with the names in a message. An inner one has the more exact name."""
    return place._replace(
        group_id=text_in(element, "group_id") or place.group_id,
        member_id=text_in(element, "member_id") or place.member_id,
        transactional_id=text_in(element, "transactional_id") or place.transactional_id,
        key=text_in(element, "key") or text_in(element, "resource_name") or text_in(element, "user") or place.key,
    )


@cache
def _branches_of(api: Api, message_type: type[Message], field: str = "", topics: TopicList | None = None) -> _Branch:
    """Return the branches below a message. field: of the list that it is an element of. topics: see _Branch."""
    branches: list[_Branch] = []
    for name, element_type in message_lists(message_type).items():
        inner_topics = next((each for each in api.responses if each.topics == name and each.owners == field), None)
        if topics is not None and name == topics.partitions:
            inner_topics = topics
        inner = _branches_of(api, element_type, name, inner_topics)
        if inner.codes or inner.branches:
            branches.append(inner)
    codes = tuple(name for name in message_type.__slots__ if name in ERROR_FIELDS)
    return _Branch(field, codes, tuple(branches), topics)
