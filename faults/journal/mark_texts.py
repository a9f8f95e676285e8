"""The texts of the marks of rules and groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ...protocol.frames import FrameError
from ...protocol.primitives import Reader
from ...protocol.shortened_text import shortened
from ...protocol.stored_records.consumer_group_records import ConsumerRecordType
from ...protocol.stored_records.group_log_records import GroupRecordType
from ...protocol.stored_records.share_group_records import ShareRecordType
from ...protocol.stored_records.streams_group_records import StreamsRecordType

if TYPE_CHECKING:
    from ..consumption.events import GroupRecords

_EPOCH_TYPES = frozenset(
    int(types.GROUP_METADATA) for types in (ConsumerRecordType, ShareRecordType, StreamsRecordType)
)
# Since this version, the texts of a classic group's record are compact.
_FLEXIBLE_SINCE = 4


class MarkedRule(Protocol):
    """A rule of a list."""

    @property
    def id(self) -> int:
        """The id."""
        ...

    @property
    def name(self) -> str:
        """The name; "" without one."""
        ...


@dataclass(frozen=True, slots=True)
class Generation:
    """A generation of a group. noun: "generation", or "epoch" of a group whose coordinator assigns the partitions."""

    group: str
    noun: str
    number: int


def rules_text(noun: str, before: Sequence[MarkedRule], after: Sequence[MarkedRule]) -> str | None:
    """Return what has changed between two lists of rules; None if none was added, replaced or removed.

    noun: of one rule.
    """
    old, new = {rule.id: rule for rule in before}, {rule.id: rule for rule in after}
    changed = {
        "added": [rule for rule_id, rule in new.items() if rule_id not in old],
        "replaced": [rule for rule_id, rule in new.items() if rule_id in old and old[rule_id] is not rule],
        "removed": [rule for rule_id, rule in old.items() if rule_id not in new],
    }
    texts = [f"{_named(noun, rules)} {word}" for word, rules in changed.items() if rules]
    return ", ".join(texts) or None


def _named(noun: str, rules: Sequence[MarkedRule]) -> str:
    first = rules[0]
    if len(rules) > 1:
        return f"{len(rules)} {noun}s"
    return f"{noun} {first.id} ({shortened(first.name)})" if first.name else f"{noun} {first.id}"


def generation_of(appended: GroupRecords) -> Generation | None:
    """Return the generation or epoch that records of a group begin; None if they begin none."""
    for key, value in appended.records:
        record_type = int.from_bytes(key[:2])
        if value is None or (record_type != GroupRecordType.GROUP_METADATA and record_type not in _EPOCH_TYPES):
            continue
        group = shortened(appended.group)
        try:
            reader = Reader(value)
            version = reader.int16()
            if record_type in _EPOCH_TYPES:
                return Generation(group, "epoch", reader.int32())
            # The members after it are not read: they may be many.
            reader.string(version >= _FLEXIBLE_SINCE)
            number = reader.int32()
            # A new group has the generation 0 until its members have joined.
            return Generation(group, "generation", number) if number else None
        except FrameError:
            return None
    return None
