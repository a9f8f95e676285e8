"""Counts why requests did not match a rule: the explanation of a rule that never hit.

A rule compares its fields in matching order and stops at the first that differs. A near miss names that field, and says
nothing about the later ones. The nearest near miss is the one that differed at the latest field.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from msgspec import Struct, to_builtins

from ...protocol.shortened_text import shortened
from ..json_bytes import BytesValue

# Distinct (field, got) counted for one rule.
NEAR_MISSES_MAX = 16
# Near misses in a message. The nearest come first, more do not help.
NEAR_MISSES_SHOWN = 3
# A longer text is cut.
_GOT_CHARACTERS_MAX = 200

# The characters of a value that describe shows.
_SHOWN_CHARACTERS_MAX = 200
# Texts that describe shows without quotes: no number, and not a word of JSON.
_PLAIN_TEXT = re.compile(r"(?!(?:null|true|false)\Z)[A-Za-z_][\w./-]*")


class StartOfValue(Struct, frozen=True):
    """A key or header value that is too long to report. starts_with: its first bytes. size: its bytes."""

    starts_with: str | BytesValue
    size: int


class MoreValues(Struct, frozen=True, omit_defaults=True):
    """The number of values that are not reported. at_least: there may be more of them."""

    more: int
    at_least: bool = False


GotBytes = str | BytesValue | StartOfValue | MoreValues
Got = int | str | tuple[GotBytes, ...] | None


@dataclass(slots=True)
class Mismatch:
    """The first field that did not hold, and the request's value; None if the request has none.

    depth: the position of the field in matching order.
    """

    field: str
    got: Got
    depth: int


class NearMiss(Struct):
    """Requests that did not match a rule, because of the same field and the same value.

    field: the first condition that did not hold; later ones were not compared. wanted: the rule's value.
    got: the requests' value; null if they have none.
    message: the same as text, such as "first differed at api: ApiVersions, not Produce".
    """

    field: str
    wanted: Any
    got: Any
    count: int
    message: str


def describe_misses(misses: Iterable[NearMiss], noun: str) -> list[str]:
    """Return a text for each of the nearest misses. noun: what did not match, such as "request"."""
    return [
        f"{miss.count} {noun if miss.count == 1 else f'{noun}s'} {miss.message}"
        for miss in islice(misses, NEAR_MISSES_SHOWN)
    ]


@dataclass(slots=True)
class _Counted:
    depth: int
    count: int = 0


class NearMisses:
    """The near misses of one rule, the nearest NEAR_MISSES_MAX of them."""

    def __init__(self, match: object) -> None:
        """Start empty. match: has the wanted value of each field as an attribute."""
        self._match = match
        self._counts: dict[tuple[str, Got], _Counted] = {}

    def add(self, mismatch: Mismatch) -> None:
        """Count a mismatch. If there is no room, it replaces one that failed on an earlier field."""
        got = mismatch.got
        if isinstance(got, str):
            got = shortened(got, _GOT_CHARACTERS_MAX)
        key = (mismatch.field, got)
        counted = self._counts.get(key)
        if counted is None:
            if len(self._counts) >= NEAR_MISSES_MAX and not self._make_room(mismatch.depth):
                return
            counted = self._counts[key] = _Counted(mismatch.depth)
        counted.count += 1

    def _make_room(self, depth: int) -> bool:
        least = min(self._counts, key=lambda key: (self._counts[key].depth, self._counts[key].count))
        if self._counts[least].depth >= depth:
            return False
        del self._counts[least]
        return True

    def nearest(self) -> list[NearMiss]:
        """Return the near misses: the latest field first, then the most frequent."""
        nearest = sorted(self._counts.items(), key=lambda item: (-item[1].depth, -item[1].count))
        return [self._near_miss(field, got, counted.count) for (field, got), counted in nearest]

    def _near_miss(self, field: str, got: Got, count: int) -> NearMiss:
        wanted: object = to_builtins(getattr(self._match, field))
        values: object = to_builtins(list(got)) if isinstance(got, tuple) else got
        shown = f"no {field}" if values in (None, []) else _shown(values, ", ")
        message = f"first differed at {field}: {shown}, not {_shown(wanted, ' or ')}"
        return NearMiss(field, wanted, values, count, message)


def _shown(value: object, separator: str) -> str:
    """Return a value of JSON's types as short text; a list with its items separated by separator."""
    if isinstance(value, list):
        return _cut(separator.join(_shown(item, separator) for item in cast("list[object]", value)))
    if isinstance(value, str) and _PLAIN_TEXT.fullmatch(value):
        return _cut(value)
    return _cut(json.dumps(value, ensure_ascii=False))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS_MAX else text[:_SHOWN_CHARACTERS_MAX] + "..."
