"""Hashes of the event ids of records, from the arrays of the decoder, and sets of them.

Nearly every event id is in a log once, which its hash proves. A hash depends on the topic and the bytes of each part,
so the same id has the same hash in every task. Two ids can have the same one: whoever selects records by hashes gets
some others too.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .record_columns import RecordColumns, Slices
from .varints import Booleans, Bytes, Longs, Words, words_of

# A set has one bit for this many bits of a hash, and takes at most 2 MiB.
SET_BITS = 24
_HASH_BITS = 64
_WORD_BYTES = 8
# The bytes that are hashed by word. A longer content is hashed alone, because each word is a step for all records.
_WORDWISE_BYTES_MAX = 256
# Odd numbers without a pattern: the fractions of the golden ratio and of the square root of three.
_FIRST_FACTOR, _SECOND_FACTOR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
_SHIFT = np.uint64(32)
# The bytes of a word that belong to a content, by their number.
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(_WORD_BYTES + 1)], np.uint64)


@dataclass(frozen=True, slots=True)
class HashedId:
    """The event id whose hashes are computed. headers: of each part the name of its header, or None for the key.

    is_empty_an_id: whether a part of no bytes is one. tasks: how many parts the hashes are distributed to.
    """

    headers: tuple[str | None, ...]
    is_empty_an_id: bool = False
    tasks: int = 1

    def to_text(self) -> str:
        """Return the text that from_text reads."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> HashedId:
        """Return the id of a text of to_text. Raises ValueError for any other text."""
        content: Any = json.loads(text)
        try:
            return cls(tuple(content["headers"]), content["is_empty_an_id"], content["tasks"])
        except (KeyError, TypeError):
            raise ValueError(f"not the text of a hashed id: {text}") from None


@dataclass(frozen=True, slots=True)
class RowHashes:
    """Of each row a hash, whether it has all parts of the id, and whether one of these is empty and makes it none.

    The hash of a row without an id is undefined.
    """

    hashes: Words
    has_id: Booleans
    is_empty: Booleans


def hash_rows(columns: RecordColumns, wanted: HashedId, topic: str) -> RowHashes:
    """Return the hashes of the event ids of all rows."""
    count = len(columns.batches)
    seed = int.from_bytes(blake2b(topic.encode(), digest_size=_WORD_BYTES).digest(), "little")
    hashes = np.full(count, seed, np.uint64)
    has_all: Booleans = np.ones(count, np.bool_)
    has_empty: Booleans = np.zeros(count, np.bool_)
    for header in wanted.headers:
        contents = columns.keys if header is None else _first_headers(columns, header.encode())
        has_all &= contents.sizes >= 0
        has_empty |= contents.sizes == 0
        hashes = _with_contents(hashes, columns.data, contents)
    is_empty = np.zeros(count, np.bool_) if wanted.is_empty_an_id else has_all & has_empty
    return RowHashes(hashes, has_all & ~is_empty, is_empty)


def task_of_hash(hashes: Words, tasks: int) -> Longs:
    """Return the task of each hash. Hashes with the same bit of a set have the same task."""
    return (set_bits_of(hashes) * tasks) >> SET_BITS


def set_bits_of(hashes: Words) -> Longs:
    """Return the number of each hash's bit in a set."""
    return (hashes >> np.uint64(_HASH_BITS - SET_BITS)).astype(np.int64)


@dataclass(frozen=True)
class HashSet:
    """A set of hashes with false positives: one bit for all hashes that begin alike. bits: packed, as bytes."""

    bits: bytes

    @classmethod
    def of_numbers(cls, numbers: Iterable[NDArray[np.integer[Any]]]) -> HashSet:
        """Return the set of the numbers of set_bits_of in all of the arrays."""
        is_there: Booleans = np.zeros(1 << SET_BITS, np.bool_)
        for some in numbers:
            is_there[some] = True
        return cls(np.packbits(is_there).tobytes())

    @classmethod
    def from_text(cls, text: str) -> HashSet:
        """Return the set of a text of to_text. Raises ValueError for any other text."""
        try:
            return cls(zlib.decompress(base64.b64decode(text)))
        except zlib.error as error:
            raise ValueError(str(error)) from None

    def to_text(self) -> str:
        """Return the compressed set as text."""
        return base64.b64encode(zlib.compress(self.bits)).decode()

    def are_there(self, hashes: Words) -> Booleans:
        """Return which of the hashes are in the set, perhaps with some others."""
        return self._is_there[set_bits_of(hashes)]

    @cached_property
    def _is_there(self) -> Booleans:
        return np.unpackbits(np.frombuffer(self.bits, np.uint8)).view(np.bool_)


def _with_contents(hashes: Words, data: Bytes, contents: Slices) -> Words:
    """Return the hashes of the contents behind what was hashed before; a null content counts as an empty one."""
    sizes = np.maximum(contents.sizes, 0)
    hashes = _mixed(hashes, sizes.view(np.uint64))
    words = words_of(data)
    step = 0
    lanes = np.flatnonzero((sizes > 0) & (sizes <= _WORDWISE_BYTES_MAX))
    while len(lanes):
        rest = sizes[lanes] - step
        found = words[contents.starts[lanes] + step] & _MASKS[np.minimum(rest, _WORD_BYTES)]
        hashes[lanes] = _mixed(hashes[lanes], found)
        step += _WORD_BYTES
        lanes = lanes[rest > _WORD_BYTES]
    for lane in np.flatnonzero(sizes > _WORDWISE_BYTES_MAX).tolist():
        start = int(contents.starts[lane])
        digest = blake2b(data[start : start + int(sizes[lane])].data, digest_size=_WORD_BYTES).digest()
        hashes[lane : lane + 1] = _mixed(hashes[lane : lane + 1], np.frombuffer(digest, np.uint64))
    return hashes


def _mixed(hashes: Words, words: Words) -> Words:
    """Return hashes in which every bit of hashes and words can change every other one."""
    mixed: Words = (hashes ^ words) * _FIRST_FACTOR
    mixed ^= mixed >> _SHIFT
    mixed *= _SECOND_FACTOR
    mixed ^= mixed >> _SHIFT
    return mixed


def _first_headers(columns: RecordColumns, name: bytes) -> Slices:
    """Return the value of the first header of that name in each row; null without one."""
    count = len(columns.batches)
    values = Slices(np.zeros(count, np.int64), np.full(count, -1, np.int64))
    keys = columns.header_keys
    found = np.flatnonzero(keys.sizes == len(name))
    words = words_of(columns.data)
    for step in range(0, len(name), _WORD_BYTES):
        part = name[step : step + _WORD_BYTES]
        word = np.uint64(int.from_bytes(part, "little"))
        found = found[words[keys.starts[found] + step] & _MASKS[len(part)] == word]
    row_ends = np.cumsum(columns.header_counts)
    rows = np.searchsorted(row_ends, found, side="right")
    is_first = np.diff(rows, prepend=-1) > 0
    values.starts[rows[is_first]] = columns.header_values.starts[found[is_first]]
    values.sizes[rows[is_first]] = columns.header_values.sizes[found[is_first]]
    return values
