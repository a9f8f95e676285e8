"""Draws requests from the fields of the generated messages.

The name of a field chooses its values: topics, groups, producers and offsets that the broker has, and others. Numbers
without values of their own are small, or the limits of an integer type.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from random import Random
from types import NoneType, UnionType
from typing import Any, cast, get_args, get_origin

from fauxka.protocol.api_keys import Api
from fauxka.protocol.message import Message
from fauxka.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from fauxka.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from fauxka.protocol.primitives import INT16, ZERO_UUID, Writer

from ..messages import is_message_class
from .drawn_batches import draw_records

# Created before the first request.
TOPICS = {"fuzz-one": 1, "fuzz-three": 3, "fuzz-compacted": 2}
OTHER_TOPICS = (
    *("fuzz-a", "fuzz-b", "fuzz-c", "__consumer_offsets", "__transaction_state", "__share_group_state"),
    *("", ".", "fuzz/bad", "fuzz-\u00e9", "f" * 249, "f" * 300),
)
GROUPS = ("classic", "consumer", "share", "streams", "other", "")
TRANSACTIONAL_IDS = ("copier", "writer", "")
MEMBERS = ("", "member-a", "member-b", "AAAAAAAAAAAAAAAAAAAAAA")
PATTERNS = ("fuzz-.*", ".*", "[", "(a|b)*c", "")
CONFIG_KEYS = (
    *("retention.ms", "segment.bytes", "cleanup.policy", "max.message.bytes", "compression.type", "flush.messages"),
    *("message.timestamp.type", "index.interval.bytes", "consumer.session.timeout.ms", "no.such.key", ""),
)
CONFIG_VALUES = ("", "0", "1", "-1", "1000", "1048576", "delete", "compact", "compact,delete", "zstd", "LogAppendTime")
RESOURCES = (*TOPICS, *OTHER_TOPICS, *GROUPS, "1", "0")
TEXTS = ("", "a", "name", "range", "uniform", "consumer", "\u00e9\U0001f600", "x" * 300)

SMALL = (0, 0, 1, 1, 2, 3, -1)
LIMITS = tuple(sign * 2**bits + (sign < 0) - 1 for bits in (7, 15, 31, 63) for sign in (1, -1))
LIMITS_SHARE = 0.02
INTEGERS: Mapping[str, Sequence[int]] = {
    "partition": (0, 0, 0, 1, 2, 7, -1),
    "partition_index": (0, 0, 0, 1, 2, 7, -1),
    "index": (0, 0, 0, 1, 2, 7, -1),
    "replica_id": (-1, -1, -1, -2, 1),
    "broker_id": (1, 1, 0, -1),
    "node_id": (1, 1, 0, -1),
    "acks": (-1, -1, 1, 0, 2),
    "session_timeout_ms": (6000, 6000, 45_000, 1),
    "transaction_timeout_ms": (1, 1000, 60_000, 900_000),
    "min_bytes": (0, 1, 1, 1_000_000),
    "max_bytes": (0, 1, 1000, 1_048_576),
    "partition_max_bytes": (0, 1, 1000, 1_048_576),
    "max_records": (0, 1, 10, 500),
    "batch_size": (0, 1, 10, 500),
    "fetch_offset": (0, 0, 1, 3, 100, -1),
    "offset": (0, 0, 1, 3, 100, -1),
    "timestamp": (-1, -2, -3, -4, -5, 0, 1_700_000_000_000),
    "producer_id": (0, 1, 2, 5, 8, -1),
    "v3_and_below_producer_id": (0, 1, 2, 5, 8, -1),
    "producer_epoch": (0, 0, 0, 1, -1),
    "replication_factor": (1, 1, -1, 3),
    "resource_type": (2, 2, 4, 8, 16, 32, 0),
    "member_epoch": (0, 0, 1, 1, 2, -1, -2),
    "generation_id": (-1, 0, 1, 1, 2),
}
# Their limits make the broker wait, or create millions of partitions.
INTEGERS_WITHOUT_LIMITS: Mapping[str, Sequence[int]] = {
    "max_wait_ms": (0, 0, 5, 20),
    "timeout_ms": (0, 10, 30),
    "rebalance_timeout_ms": (10, 50, 100),
    "num_partitions": (1, 2, 3, 5, -1, 0),
    "count": (2, 3, 6, 1, 0),
}
# The lists of most requests are short, because the elements of each are drawn one by one.
LIST_SIZES = (0, 1, 1, 1, 2, 3)
LONG_LIST_SHARE = 0.01
NULL_SHARE = 0.15
# A version of a message may have no null, or no field for a drawn value.
ATTEMPTS = 8


@dataclass
class World:
    """What a broker has, in the order in which it was created. Frames of one seed differ in nothing else.

    topic_ids: of TOPICS. member_ids: of the group "classic".
    """

    topic_ids: Sequence[bytes] = ()
    member_ids: Sequence[str] = ()


@cache
def request_class_of(api: Api) -> type[Message]:
    module = import_module(f"fauxka.protocol.messages.{api.module}")
    return cast("type[Message]", getattr(module, f"{api.name}Request"))


@dataclass(frozen=True, slots=True)
class DrawnField:
    """How a field is drawn. kind: the type of it or of its elements. texts: none for the ids of members."""

    name: str
    kind: type
    is_nullable: bool
    is_list: bool
    texts: Sequence[str] = ()


_fields: dict[str, tuple[DrawnField, ...]] = {}


def fields_of(message_class: type[Message]) -> tuple[DrawnField, ...]:
    """Return the fields of a message; they are read from its annotations once."""
    key = f"{message_class.__module__}.{message_class.__name__}"
    if key not in _fields:
        types = typing.get_type_hints(message_class)
        _fields[key] = tuple(_drawn_field(message_class, name, types[name]) for name in message_class.__slots__)
    return _fields[key]


def _drawn_field(owner: type[Message], name: str, annotation: Any) -> DrawnField:
    is_nullable = get_origin(annotation) is UnionType
    if is_nullable:
        (annotation,) = (argument for argument in get_args(annotation) if argument is not NoneType)
    is_list = get_origin(annotation) is list
    if is_list:
        (annotation,) = get_args(annotation)
    texts = _texts(owner, name) if annotation is str else ()
    return DrawnField(name, annotation, is_nullable, is_list, texts)


class RequestDrawer:
    """Draws the fields of requests. long_list_elements: the most elements of a list that is longer than usual."""

    def __init__(self, random: Random, world: World, long_list_elements: int) -> None:
        self._random = random
        self._world = world
        self._long_list_elements = long_list_elements

    def body(self, api: Api, version: int) -> bytes:
        """Return the body of a request."""
        request_class = request_class_of(api)
        for _ in range(ATTEMPTS):
            writer = Writer()
            try:
                self.message(request_class).write(writer, version)
            except ValueError:
                continue
            return writer.getvalue()
        writer = Writer()
        request_class().write(writer, version)
        return writer.getvalue()

    def message(self, message_class: type[Message]) -> Message:
        random = self._random.random
        message = message_class.__new__(message_class)
        for drawn in fields_of(message_class):
            if drawn.is_nullable and random() < NULL_SHARE:
                value = None
            elif drawn.is_list:
                value = [self._value(drawn) for _ in range(self._list_size())]
            else:
                value = self._value(drawn)
            setattr(message, drawn.name, value)
        return message

    def _value(self, drawn: DrawnField) -> Any:
        kind = drawn.kind
        if kind is int:
            return self._integer(drawn.name)
        if kind is str:
            return self._random.choice(drawn.texts or (*MEMBERS, *self._world.member_ids))
        if kind is bytes:
            return self._data(drawn.name)
        if kind is bool:
            return self._random.random() < 0.5
        if kind is float:
            return self._random.choice((0.0, 1.0, -1.0, 1e300, float("inf"), float("nan")))
        assert is_message_class(kind), f"{drawn.name} is of an unknown type {kind}"
        return self.message(kind)

    def _list_size(self) -> int:
        if self._random.random() < LONG_LIST_SHARE:
            return self._random.randint(1, self._long_list_elements)
        return self._random.choice(LIST_SIZES)

    def _integer(self, name: str) -> int:
        random = self._random
        values = INTEGERS_WITHOUT_LIMITS.get(name)
        if values is None:
            values = LIMITS if random.random() < LIMITS_SHARE else INTEGERS.get(name, SMALL)
        return random.choice(values)

    def _data(self, name: str) -> bytes | None:
        random = self._random
        match name:
            case "records":
                return draw_records(random)
            case "topic_id":
                return random.choice((*self._world.topic_ids, ZERO_UUID, bytes(15) + b"\1", random.randbytes(16)))
            case "metadata" | "assignment" | "member_assignment" | "member_metadata" if random.random() < 0.8:
                message_class = ConsumerProtocolSubscription if "metadata" in name else ConsumerProtocolAssignment
                return self._consumer_protocol(message_class)
            case _ if name.endswith("_id"):
                return random.choice((ZERO_UUID, random.randbytes(16)))
            case _:
                return random.randbytes(random.choice((0, 1, 10, 100)))

    def _consumer_protocol(self, message_class: type[Message]) -> bytes:
        version = self._random.randint(0, 3)
        writer = Writer()
        writer.int16(version)
        try:
            self.message(message_class).write(writer, version)
        except ValueError:
            return INT16.pack(version)
        return writer.getvalue()


def _texts(owner: type[Message], name: str) -> Sequence[str]:
    """Return the texts for a field; nothing for member ids, which are those of the broker."""
    kinds: Sequence[tuple[Callable[[], bool], Sequence[str]]] = (
        (lambda: "member_id" in name, ()),
        (lambda: "regex" in name or "pattern" in name, PATTERNS),
        (lambda: "group" in name and "instance" not in name and "type" not in name, GROUPS),
        (lambda: "transactional" in name, TRANSACTIONAL_IDS),
        (lambda: name == "resource_name", RESOURCES),
        (lambda: "coordinator" in name or owner.__name__.startswith("FindCoordinator"), (*GROUPS, *TRANSACTIONAL_IDS)),
        (lambda: "configuration_keys" in name or ("Config" in owner.__name__ and name == "name"), CONFIG_KEYS),
        (lambda: "Config" in owner.__name__ and name == "value", CONFIG_VALUES),
        (lambda: "topic" in name or (name == "name" and "opic" in owner.__name__), (*TOPICS, *TOPICS, *OTHER_TOPICS)),
        (lambda: name == "name" and "Data" in owner.__name__, (*TOPICS, *TOPICS, *OTHER_TOPICS)),
        (lambda: "protocol_type" in name, ("consumer", "consumer", "", "other")),
        (lambda: True, TEXTS),
    )
    return next(texts for is_kind, texts in kinds if is_kind())
