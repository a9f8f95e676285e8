"""Requests with very many elements: one for each list of each request that is served."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import cast, get_args, get_origin, get_type_hints

from fauxka.broker.handlers import HANDLERS
from fauxka.protocol.api_keys import APIS, Api, ApiKey
from fauxka.protocol.apis.api import DEFAULT_RELEASE
from fauxka.protocol.buffer_codec import encode_unsigned_varint
from fauxka.protocol.client_requests import request_frame
from fauxka.protocol.fetch_codec import FETCH_PARTITIONS_MAX
from fauxka.protocol.frames import REQUEST_ELEMENTS_MAX
from fauxka.protocol.message import Message
from fauxka.protocol.message_types import request_type
from fauxka.protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from fauxka.protocol.primitives import INT32, ZERO_UUID

from ..messages import is_message_class, replaced

# Topics have ids from these versions on. Before them an element of a request can name an existing topic.
LAST_VERSION_WITH_NAMES: dict[int, int] = {
    ApiKey.PRODUCE: 12,
    ApiKey.FETCH: 12,
    ApiKey.OFFSET_COMMIT: 9,
    ApiKey.OFFSET_FETCH: 9,
    ApiKey.DELETE_TOPICS: 5,
}
ALL_REPLICAS = -1
_SIZE_BYTES = 4
# Every name has the same size, so that those of all elements are written into copies of one.
_DIGITS = 7
_TEXT = f"name-%0{_DIGITS}d"
# Bytes of the indexes that elements without a name have.
_INDEX_BYTES = 3
# How the names of lists end whose numbers are not int32: acknowledge types, and indexes of topics.
_SHORT_LISTS = ("_types", "_topics", "_regex")
# A topic, READ and ALLOW: an ACL or a filter with an unknown word ends the connection.
_OF_ACLS = {"resource_type": 2, "resource_type_filter": 2, "operation": 3, "permission_type": 3, "principal": "User:a"}


@dataclass(frozen=True)
class WideRequest:
    """The path of a list of a request, such as "topics.partitions"."""

    api: Api
    path: str

    def __str__(self) -> str:
        return f"{self.api.name}-{self.path}"

    @property
    def version(self) -> int:
        """Return the last version with the list, and with names in it if there is one."""
        served = self.api.versions.in_release(DEFAULT_RELEASE)
        last_with_names = LAST_VERSION_WITH_NAMES.get(self.api.key, served[-1])
        versions: list[int] = [*range(last_with_names, served[0] - 1, -1), served[-1]]
        for version in versions:
            if len(self._frame(version, range(2), "")) > len(self._frame(version, range(1), "")):
                return version
        raise AssertionError(f"no version of {self.api.name} has {self.path}")

    @property
    def widest(self) -> int:
        """Return how many elements the list may have."""
        limit = FETCH_PARTITIONS_MAX if self.api.key is ApiKey.FETCH else REQUEST_ELEMENTS_MAX
        # The lists around it have one each.
        return limit - _lists_around(request_type(self.api), self.path.split("."))

    def frame(self, count: int, topic: str) -> bytes:
        """Return the request with count different elements in the list. topic: the name of every list around it.

        The bytes of the elements are copies of the first one with other indexes: a message object for each of
        100,000 takes ten times as long.
        """
        version = self.version
        one, two = self._frame(version, range(1), topic), self._frame(version, range(2), topic)
        begin = _first_difference(one, two, _SIZE_BYTES) + 1
        size = len(two) - len(one)
        first, second = two[begin : begin + size], two[begin + size : begin + 2 * size]
        is_flexible = version >= self.api.versions.flexible_since
        before = one[_SIZE_BYTES : begin - (1 if is_flexible else INT32.size)]
        counted = encode_unsigned_varint(count + 1) if is_flexible else INT32.pack(count)

        def of(index: int) -> bytes:
            return self._frame(version, range(index, index + 1), topic)[begin : begin + size]

        elements = b"".join(_copies(first, second, count, is_cyclic=of(100) == first))
        assert elements.endswith(of(count - 1)), "the last element, encoded alone"
        body = before + counted + elements + one[begin + size :]
        return INT32.pack(len(body)) + body

    def _frame(self, version: int, indexes: range, topic: str) -> bytes:
        message = _fill(request_type(self.api), self.path.split("."), indexes, topic)
        return request_frame(self.api, version, 1, message)


@cache
def wide_requests() -> tuple[WideRequest, ...]:
    """Return every list of every served request."""
    apis = (APIS[key] for key in HANDLERS)
    return tuple(WideRequest(api, path) for api in apis for path in _paths(request_type(api), ""))


def _paths(message: type[Message], prefix: str) -> Iterator[str]:
    for name in message.__slots__:
        element = _element_type(message, name)
        if element is not None:
            yield prefix + name
        part = element or _struct_type(message, name)
        if is_message_class(part):
            yield from _paths(part, f"{prefix}{name}.")


def _lists_around(message: type[Message], path: list[str]) -> int:
    """Return how many lists the path leads through before its last one."""
    if len(path) == 1:
        return 0
    element = _element_type(message, path[0])
    part = element or _struct_type(message, path[0])
    assert is_message_class(part), f"{path} leads through messages"
    return (element is not None) + _lists_around(part, path[1:])


def _element_type(message: type[Message], name: str) -> object | None:
    for part in _types(message, name):
        if get_origin(part) is list:
            return cast("tuple[object]", get_args(part))[0]
    return None


def _struct_type(message: type[Message], name: str) -> object | None:
    return next((part for part in _types(message, name) if is_message_class(part)), None)


def _types(message: type[Message], name: str) -> tuple[object, ...]:
    hint = cast(object, get_type_hints(message)[name])
    return get_args(hint) if isinstance(hint, UnionType) else (hint,)


def _copies(first: bytes, second: bytes, count: int, *, is_cyclic: bool) -> Iterator[bytes]:
    """Yield count elements. first, second: those of the indexes 0 and 1. is_cyclic: indexes begin anew after 99."""
    if first == second:
        yield first * count
        return
    end = _first_difference(first, second, 0) + 1
    is_text = first[end - 1 : end].isdigit()
    width = _DIGITS if is_text else min(_INDEX_BYTES, end)
    before, after = first[: end - width], first[end:]
    for index in range(count):
        number = index % 100 if is_cyclic else index
        yield before + (b"%0*d" % (width, number) if is_text else number.to_bytes(width)) + after


def _first_difference(one: bytes, other: bytes, begin: int) -> int:
    """Return the position of the first byte from begin on that differs."""
    return next(position for position in range(begin, len(one)) if one[position] != other[position])


def _fill(message: type[Message], path: list[str], indexes: range, topic: str) -> Message:
    """Return a message whose list at path has elements of these indexes; the lists on the way have one."""
    filled = message()
    _set_names(filled, topic)
    if hasattr(filled, "acks"):
        # With its default, 0, there is no answer.
        filled = replaced(filled, acks=ALL_REPLICAS)
    if isinstance(filled, StreamsGroupHeartbeatRequest):
        filled = replaced(filled, rebalance_timeout_ms=1000, active_tasks=[], standby_tasks=[], warmup_tasks=[])
    name = path[0]
    element = _element_type(message, name)
    part = element or _struct_type(message, name)
    if len(path) > 1:
        assert is_message_class(part), f"{path} leads through messages"
        inner = _fill(part, path[1:], indexes, topic)
        setattr(filled, name, inner if element is None else [inner])
    else:
        setattr(filled, name, [_element(name, element, index) for index in indexes])
    return filled


def _set_names(message: Message, name: str) -> None:
    for slot in message.__slots__:
        if getattr(message, slot) == "":
            setattr(message, slot, name)


def _element(name: str, element: object, index: int) -> object:
    """Return an element that differs from those of other indexes, as far as its type allows."""
    if not is_message_class(element):
        if element is int:
            return index % 100 if name.endswith(_SHORT_LISTS) else index
        return _TEXT % index if element is str else index.to_bytes(len(ZERO_UUID))
    message = element()
    for slot in message.__slots__:
        value: object = getattr(message, slot)
        if value == "":
            setattr(message, slot, _TEXT % index)
            break
        if value == 0 and type(value) is int:
            setattr(message, slot, index % 100 if "type" in slot else index)
            break
    if hasattr(message, "permission_type"):
        for slot in _OF_ACLS.keys() & set(message.__slots__):
            setattr(message, slot, _OF_ACLS[slot])
    return message
