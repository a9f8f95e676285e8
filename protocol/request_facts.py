"""What a request of any API names: topics, partitions, batches, transactional id, groups, producer.

Fault rules and the journal use it; it is read from the body, independently of the handler. Nothing is validated: a
topic may not exist, a batch may be corrupt. A Fetch of a session (KIP-227) names only the partitions whose position
changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

from . import fetch_codec, produce_codec
from .api_keys import Api, ApiKey
from .apis.fields import GROUP_RESOURCE, TopicList, TopicNameOf
from .batches.record_batch import HEADER_SIZE, NO_PRODUCER_EPOCH, NO_PRODUCER_ID, is_whole, parse_header
from .fetch_codec import FetchRequest
from .frames import FrameError
from .message import Message
from .message_fields import elements, number_in, text_in
from .message_types import request_type
from .primitives import Reader
from .produce_codec import ProduceRequest
from .sequences import NO_SEQUENCE

# A decoded request: two APIs have codecs of their own.
Request = Message | ProduceRequest | FetchRequest

# records_count of BatchFacts if the records are not a batch of magic 2.
NO_RECORDS_COUNT = -1

# key_type of FindCoordinator (Kafka: CoordinatorType).
_GROUP_KEY = 0
_TRANSACTION_KEY = 1

# The fields that list groups: strings, or messages with a group_id.
_GROUP_LISTS = ("groups", "groups_names", "group_ids")
# The fields that list transactions; the first element counts.
_TRANSACTION_LISTS = ("transactions", "markers", "transactional_ids")


@dataclass(slots=True)
class BatchFacts:
    """The header fields of the first batch that a Produce has for one partition.

    records: the batch, a view of the body. If it is not a whole batch of magic 2: all bytes, with -1 in every number.
    records_count: from the header, not verified.
    """

    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    last_sequence: int
    records_count: int
    records: memoryview


@dataclass(slots=True)
class RequestFacts:
    """What a request names, in its order, without repetition and without unknown topic ids.

    topics: also those without partitions. partitions: pairs of topic and index.
    producer_id, producer_epoch: fields of the request; -1 for a Produce, which has them in its batches.
    """

    topics: tuple[str, ...] = ()
    partitions: tuple[tuple[str, int], ...] = ()
    transactional_id: str | None = None
    group_ids: tuple[str, ...] = ()
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    batches: list[BatchFacts] = field(default_factory=list[BatchFacts])


def read_request_facts(api: Api, version: int, body: memoryview, topic_name_of: TopicNameOf) -> RequestFacts:
    """Return what a request names.

    body: the request without its header. topic_name_of: returns the name of a topic id, None for an unknown one.
    Raises FrameError if the body does not decode.
    """
    if api.key is ApiKey.PRODUCE:
        return facts_of(api, version, produce_codec.decode_request(body, 0, len(body), version), topic_name_of)
    return facts_of(api, version, request_type(api).read(Reader.of_request(body), version), topic_name_of)


def facts_of(api: Api, version: int, request: Request, topic_name_of: TopicNameOf) -> RequestFacts:
    """Return what a decoded request names. topic_name_of: see read_request_facts. Raises FrameError."""
    if isinstance(request, ProduceRequest):
        return _produce_facts(version, request, topic_name_of)
    if isinstance(request, FetchRequest):
        return _fetch_facts(version, request, topic_name_of)
    lists = api.requests
    transaction = _first_transaction(request)
    return RequestFacts(
        topics=tuple(dict.fromkeys(name for each in lists for name, _ in each.named_topics(request, topic_name_of))),
        partitions=tuple(dict.fromkeys(_partitions(request, lists, topic_name_of))),
        transactional_id=_transactional_id(request, transaction),
        group_ids=tuple(dict.fromkeys(_group_ids(api, request))),
        producer_id=_producer_number(transaction, "producer_id"),
        producer_epoch=_producer_number(transaction, "producer_epoch"),
    )


def _partitions(
    request: Message, lists: tuple[TopicList, ...], topic_name_of: TopicNameOf
) -> Iterator[tuple[str, int]]:
    for each in lists:
        if each.partitions:
            for name, topic in each.named_topics(request, topic_name_of):
                for partition in elements(topic, each.partitions):
                    yield name, each.partition_index(partition)


def _first_transaction(request: Message) -> object:
    """Return the object with the producer fields: the first listed transaction, or the request."""
    for name in _TRANSACTION_LISTS:
        transactions = elements(request, name) if hasattr(request, name) else []
        if transactions:
            return transactions[0]
    return request


def _producer_number(transaction: object, name: str) -> int:
    """Return the producer id or epoch; -1 if the request has no such field."""
    return number_in(transaction, name, number_in(transaction, f"v3_and_below_{name}", NO_PRODUCER_ID))


def _transactional_id(request: Message, transaction: object) -> str | None:
    if isinstance(transaction, str):
        return transaction
    if number_in(request, "key_type", _GROUP_KEY) == _TRANSACTION_KEY:
        return next(_coordinator_keys(request), None)
    return text_in(transaction, "transactional_id") or text_in(request, "v3_and_below_transactional_id") or None


def _group_ids(api: Api, request: Message) -> Iterator[str]:
    group_id = text_in(request, "group_id")
    if group_id:
        yield group_id
    for name in _GROUP_LISTS:
        for group in elements(request, name) if hasattr(request, name) else []:
            yield group if isinstance(group, str) else text_in(group, "group_id")
    if api.key is ApiKey.FIND_COORDINATOR and number_in(request, "key_type", _GROUP_KEY) == _GROUP_KEY:
        yield from _coordinator_keys(request)
    for resource in elements(request, "resources") if hasattr(request, "resources") else []:
        if number_in(resource, "resource_type", -1) == GROUP_RESOURCE:
            yield text_in(resource, "resource_name")


def _coordinator_keys(request: Message) -> Iterator[str]:
    """Yield the keys of FindCoordinator: one up to version 3, a list from version 4 on."""
    key = text_in(request, "key")
    if key:
        yield key
    yield from cast("list[str]", elements(request, "coordinator_keys"))


def _fetch_facts(version: int, request: FetchRequest, topic_name_of: TopicNameOf) -> RequestFacts:
    names = [
        (topic_name_of(key) if version >= fetch_codec.TOPIC_IDS_SINCE else _decode_name(key), index)
        for key, index in request.partitions
    ]
    partitions = [(name, index) for name, index in names if name is not None]
    return RequestFacts(tuple(dict.fromkeys(name for name, _ in partitions)), tuple(dict.fromkeys(partitions)))


def _produce_facts(version: int, request: ProduceRequest, topic_name_of: TopicNameOf) -> RequestFacts:
    batches: list[BatchFacts] = []
    topics: list[str] = []
    partitions: list[tuple[str, int]] = []
    for key, produced in request.topics:
        name = topic_name_of(key) if version >= produce_codec.TOPIC_IDS_SINCE else _decode_name(key)
        if name is None:
            continue
        topics.append(name)
        for index, records in produced:
            partitions.append((name, index))
            if records is not None:
                batches.append(_batch_facts(name, index, records))
    return RequestFacts(tuple(topics), tuple(partitions), request.transactional_id, batches=batches)


def _decode_name(key: bytes) -> str:
    try:
        return key.decode()
    except UnicodeDecodeError as error:
        raise FrameError(f"the name of a topic, {key!r}, is not UTF-8") from error


def _batch_facts(topic: str, partition: int, records: memoryview) -> BatchFacts:
    header = parse_header(records) if len(records) >= HEADER_SIZE else None
    if header is None or not is_whole(header, len(records)):
        return BatchFacts(
            topic,
            partition,
            NO_PRODUCER_ID,
            NO_PRODUCER_EPOCH,
            NO_SEQUENCE,
            NO_SEQUENCE,
            NO_RECORDS_COUNT,
            records,
        )
    return BatchFacts(
        topic,
        partition,
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
        header.last_sequence,
        header.records_count,
        records[: header.size],
    )
