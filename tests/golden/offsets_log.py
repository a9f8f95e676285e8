"""The records of __consumer_offsets in a form that two brokers have in common: by group, in the order they are in.

Member ids end in a random UUID and are numbered in the order of their appearance in the group; times are there or not;
members come in the order of a hash table and are sorted, as are tombstones that follow one another.
"""

import dataclasses
import json
from collections.abc import Iterator

from fauxka.protocol.batches.record_batch import parse_header
from fauxka.protocol.batches.records import Record, decode_batch
from fauxka.protocol.primitives import ZERO_UUID
from fauxka.protocol.stored_records.group_log_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    GroupRecordType,
    OffsetCommitKey,
    OffsetCommitValue,
    record_type_of,
)

from .group_recorder import UUID_SUFFIX


def records_of(segment: bytes) -> Iterator[Record]:
    """Yield the records of whole batches."""
    position = 0
    while position < len(segment):
        size = parse_header(segment, position).size
        yield from decode_batch(segment[position : position + size])
        position += size


def lines_by_group(segment: bytes) -> dict[str, list[str]]:
    """Return a line for each record, in order, by group."""
    groups: dict[str, _Lines] = {}
    for record in records_of(segment):
        assert record.key is not None
        if record_type_of(record.key) == GroupRecordType.GROUP_METADATA:
            group_id = GroupMetadataKey.read(record.key).group
            groups.setdefault(group_id, _Lines()).add_group(record.value)
        else:
            key = OffsetCommitKey.read(record.key)
            groups.setdefault(key.group, _Lines()).add_offset(key, record.value)
    return {group_id: groups[group_id].in_order() for group_id in sorted(groups)}


class _Lines:
    """The lines of one group."""

    def __init__(self) -> None:
        self._lines: list[tuple[bool, str]] = []
        self._numbers: dict[str, int] = {}

    def add_offset(self, key: OffsetCommitKey, value: bytes | None) -> None:
        name = f"{key.topic}-{key.partition}"
        if value is None:
            self._lines.append((True, f"no offset for {name}"))
            return
        read = OffsetCommitValue.read(value)
        plain = dataclasses.replace(
            read,
            commit_timestamp=_is_there(read.commit_timestamp),
            expire_timestamp=_is_there(read.expire_timestamp),
            topic_id=b"there" if read.topic_id != ZERO_UUID else b"",
        )
        self._lines.append((False, f"{name}, version {_version_of(value)}: {plain}"))

    def add_group(self, value: bytes | None) -> None:
        if value is None:
            self._lines.append((True, "no group"))
            return
        read = GroupMetadataValue.read(value)
        plain = dataclasses.replace(
            read,
            current_state_timestamp=_is_there(read.current_state_timestamp),
            leader=None if read.leader is None else self._named(read.leader),
            members=tuple(
                sorted(
                    (dataclasses.replace(each, member_id=self._named(each.member_id)) for each in read.members),
                    key=lambda member: member.member_id,
                )
            ),
        )
        self._lines.append((False, f"version {_version_of(value)}: {plain}"))

    def in_order(self) -> list[str]:
        """Return the lines, those of each run of tombstones sorted."""
        lines: list[str] = []
        run: list[str] = []
        for is_tombstone, line in self._lines:
            if is_tombstone:
                run.append(line)
            else:
                lines += [*sorted(run), line]
                run = []
        return lines + sorted(run)

    def _named(self, member_id: str) -> str:
        found = UUID_SUFFIX.match(member_id)
        if found is None:
            return json.dumps(member_id)
        return f"{found[1]}-#{self._numbers.setdefault(member_id, len(self._numbers) + 1)}"


def _is_there(timestamp: int) -> int:
    return -1 if timestamp == -1 else 1


def _version_of(value: bytes) -> int:
    return int.from_bytes(value[:2])
