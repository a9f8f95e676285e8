"""The partitions that a request names, each with its entry in the response, for any API whose record lists both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from ....protocol.apis.fields import TopicList, TopicNameOf
from ....protocol.message import Message
from ....protocol.message_fields import elements, text_in
from ....protocol.shortened_text import shortened
from .exchange import Exchange
from .models import PARTS_MAX

# The entries of a response that are searched for the partitions of the request: within a slice. They are in the order
# of the request, but for those with errors.
SEARCHED_MAX = 10_000


class PartitionKey(NamedTuple):
    """A partition. owner: the group that it is named for, "" in APIs without groups of topics."""

    owner: str
    topic: str
    partition: int


@dataclass(slots=True)
class PartitionPair:
    """The element of a partition in the request and in the response; None if there is none."""

    asked: object = None
    answered: object = None


class PartitionPairs(NamedTuple):
    """At most PARTS_MAX partitions, in the order of the request, then of the response."""

    pairs: dict[PartitionKey, PartitionPair]
    left_out: int


def pair_partitions(exchange: Exchange) -> PartitionPairs:
    """Return the partitions of a request and of its response."""
    api, request, response, topic_name_of = exchange.api, exchange.request, exchange.response, exchange.topic_name_of
    pairs: dict[PartitionKey, PartitionPair] = {}
    for key, element in islice(_partitions(api.requests, request, topic_name_of), PARTS_MAX):
        pairs.setdefault(key, PartitionPair()).asked = element
    for key, element in islice(_partitions(api.responses, response, topic_name_of), SEARCHED_MAX):
        pair = pairs.get(key)
        if pair is None and len(pairs) < PARTS_MAX:
            pair = pairs[key] = PartitionPair()
        if pair is not None:
            pair.answered = element
    count = max(_count(api.requests, request), _count(api.responses, response))
    return PartitionPairs(pairs, max(0, count - len(pairs)))


def _partitions(
    lists: tuple[TopicList, ...], message: Message | None, topic_name_of: TopicNameOf
) -> Iterator[tuple[PartitionKey, object]]:
    for topics in lists if message is not None else ():
        for owner in topics.owner_messages(message):
            owner_key = shortened(text_in(owner, topics.owner_key)) if topics.owners else ""
            for topic in elements(owner, topics.topics):
                name = shortened(topics.topic_text(topic, topic_name_of) or "")
                for partition in elements(topic, topics.partitions):
                    yield PartitionKey(owner_key, name, topics.partition_index(partition)), partition


def _count(lists: tuple[TopicList, ...], message: Message | None) -> int:
    return sum(
        len(elements(topic, topics.partitions))
        for topics in lists
        if message is not None
        for owner in topics.owner_messages(message)
        for topic in elements(owner, topics.topics)
    )
