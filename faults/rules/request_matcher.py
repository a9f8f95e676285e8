"""Matches requests and connections against a compiled `match`.

A request consists of parts: its batches, its partitions without a batch, its topics without a partition, or else the
request itself. All batch fields must hold for the same part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

from .match import BATCH_FIELDS, CONNECTION_FIELDS, NAMED_FIELDS, REQUEST_FIELDS, Match
from .near_misses import Got, Mismatch
from .record_matcher import RecordMatcher
from .value_tests import Test, Value, compile_test

if TYPE_CHECKING:
    from ...protocol.request_facts import RequestFacts
    from ..request_view import ConnectionView, MatchedRequest


# The attribute of a connection, and of a request, for each field.
_OF_CONNECTION = {"node": "node_id", "listener": "listener_name", "connection": "connection_id"}
_OF_REQUEST = {
    "api": "api_name",
    "api_version": "api_version",
    "client_id": "client_id",
    "mechanism": "mechanism",
    "principal": "principal",
    **{field: f"connection.{attribute}" for field, attribute in _OF_CONNECTION.items()},
}
_DEPTHS = {name: depth for depth, name in enumerate((*REQUEST_FIELDS, *NAMED_FIELDS, *BATCH_FIELDS))}
_RECORD_FIELDS = ("key", "header")


@dataclass(frozen=True, slots=True)
class Matched:
    """The parts of the request that matched; empty if the match has no batch field."""

    partitions: frozenset[tuple[str, int]] = frozenset()
    topics: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _FieldTest:
    field: str
    read: Callable[[object], Value]
    test: Test


@dataclass(slots=True)
class _Part:
    """A part of a request. None: the part does not have the field."""

    topic: str | None = None
    partition: int | None = None
    producer_id: int | None = None
    producer_epoch: int | None = None
    base_sequence: int | None = None
    record_count: int | None = None
    records: memoryview | None = None


_MATCHED_WHOLE_REQUEST = Matched()


class RequestMatcher:
    """A compiled match."""

    def __init__(self, match: Match) -> None:
        """Compile the given fields of a valid match."""
        self._request = _field_tests(match, REQUEST_FIELDS, _OF_REQUEST)
        self._connection = _field_tests(match, CONNECTION_FIELDS, _OF_CONNECTION)
        self._named = _field_tests(match, NAMED_FIELDS)
        part_fields = [name for name in BATCH_FIELDS if name not in _RECORD_FIELDS]
        self._part = _field_tests(match, part_fields)
        is_of_records = match.key is not None or match.header is not None
        self._records = RecordMatcher(match.key, match.header) if is_of_records else None

    @property
    def reads_records(self) -> bool:
        """Whether records are decoded: for key and header."""
        return self._records is not None

    def reads_body(self, request: MatchedRequest) -> bool:
        """Return whether the match of this request decodes its body: a field of it counts, and all others hold."""
        reads = self._named or self._part or self._records is not None
        return bool(reads) and _first_mismatch(request, self._request) is None

    def match_connection(self, connection: ConnectionView) -> Matched | Mismatch:
        """Match the fields of a connection."""
        return _first_mismatch(connection, self._connection) or _MATCHED_WHOLE_REQUEST

    def match(self, request: MatchedRequest) -> Matched | Mismatch:
        """Match all fields. The body of the request is decoded only if all other fields hold."""
        mismatch = _first_mismatch(request, self._request)
        if mismatch is not None:
            return mismatch
        if self._named:
            mismatch = self._named_mismatch(request.facts)
            if mismatch is not None:
                return mismatch
        if not self._part and self._records is None:
            return _MATCHED_WHOLE_REQUEST
        return self._match_parts(request.facts)

    def _named_mismatch(self, facts: RequestFacts) -> Mismatch | None:
        for tested in self._named:
            if tested.field == "group_id":
                if not any(tested.test(group_id) for group_id in facts.group_ids):
                    return _mismatch(tested.field, facts.group_ids or None)
            elif not tested.test(facts.transactional_id):
                return _mismatch(tested.field, facts.transactional_id)
        return None

    def _match_parts(self, facts: RequestFacts) -> Matched | Mismatch:
        """Return the parts that match, or the latest mismatch of any part."""
        partitions: list[tuple[str, int]] = []
        topics: list[str] = []
        is_matched = False
        furthest: Mismatch | None = None
        for part in _parts(facts):
            mismatch = _first_mismatch(part, self._part) or self._record_mismatch(part)
            if mismatch is not None:
                if furthest is None or mismatch.depth > furthest.depth:
                    furthest = mismatch
                continue
            is_matched = True
            if part.topic is not None:
                topics.append(part.topic)
                if part.partition is not None:
                    partitions.append((part.topic, part.partition))
        if is_matched:
            return Matched(frozenset(partitions), frozenset(topics))
        assert furthest is not None, "a request has at least one part"
        return furthest

    def _record_mismatch(self, part: _Part) -> Mismatch | None:
        if self._records is None:
            return None
        found = self._records.find_mismatch(part.records)
        return None if found is None else _mismatch(found.field, found.got)


def _parts(facts: RequestFacts) -> Iterator[_Part]:
    for batch in facts.batches:
        yield _Part(
            batch.topic,
            batch.partition,
            batch.producer_id,
            batch.producer_epoch,
            batch.base_sequence,
            batch.records_count,
            batch.records,
        )
    producer_id = facts.producer_id if facts.producer_id >= 0 else None
    producer_epoch = facts.producer_epoch if facts.producer_epoch >= 0 else None
    with_batch = {(batch.topic, batch.partition) for batch in facts.batches}
    for topic, partition in facts.partitions:
        if (topic, partition) not in with_batch:
            yield _Part(topic, partition, producer_id, producer_epoch)
    with_partition = {topic for topic, _ in facts.partitions}
    for topic in facts.topics:
        if topic not in with_partition:
            yield _Part(topic, None, producer_id, producer_epoch)
    if not facts.topics:
        yield _Part(None, None, producer_id, producer_epoch)


def _first_mismatch(subject: object, fields: list[_FieldTest]) -> Mismatch | None:
    for tested in fields:
        value = tested.read(subject)
        if value is None and tested.field == "client_id":
            value = ""
        if not tested.test(value):
            return _mismatch(tested.field, value)
    return None


def _mismatch(field: str, got: Got) -> Mismatch:
    return Mismatch(field, got, _DEPTHS[field])


def _field_tests(match: Match, names: Iterable[str], attributes: Mapping[str, str] | None = None) -> list[_FieldTest]:
    """Return the tests of the given fields. attributes: the attribute of each field; its own name by default."""
    return [
        _FieldTest(name, attrgetter(name if attributes is None else attributes[name]), compile_test(match, name))
        for name in names
        if getattr(match, name) is not None
    ]
