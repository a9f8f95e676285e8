"""The transaction index of a segment (.txnindex): the aborted transactions whose markers are in the segment.

Entries of 34 bytes: version int16 (0), producer_id, first_offset, last_offset (the marker), last_stable_offset. They
are in the order of their markers. The file exists only with entries. They are read from the file, so memory does not
grow with the log.
Source: TransactionIndex and AbortedTxn, Kafka 4.3.0.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from struct import Struct
from typing import NamedTuple

from ..corrupt_file import CorruptFileError
from ..file_systems.file_system import File, FileSystem

VERSION = 0

_ENTRY = Struct(">hqqqq")
# The entries of one read: enough for nearly every index, and little memory for a large one.
_ENTRIES_READ = 256


class AbortedTransaction(NamedTuple):
    """An aborted transaction of one producer in one partition.

    last_offset: the offset of its marker.
    last_stable_offset: after the marker was written, the first offset of the earliest other open transaction, or the
        offset after the marker without one.
    """

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


@dataclass(frozen=True, slots=True)
class CollectedTransactions:
    """Aborted transactions of one segment; is_complete: whether no later segment has more of them."""

    transactions: list[AbortedTransaction]
    is_complete: bool


class TransactionIndex:
    """The transaction index of one segment."""

    __slots__ = ("_file", "_file_system", "_path", "count")

    def __init__(self, file_system: FileSystem, path: str) -> None:
        """Open the index at path; the first entry creates the file. Only check() validates the entries."""
        self._file_system = file_system
        self._path = path
        self._file: File | None = file_system.open(path) if file_system.exists(path) else None
        self.count = self._file.size // _ENTRY.size if self._file is not None else 0

    def append(self, transaction: AbortedTransaction) -> None:
        """Add a transaction whose marker follows all earlier ones; after OSError the index is unchanged."""
        assert not self.count or transaction.last_offset > self._entry(self.count - 1).last_offset, (
            f"{transaction} does not follow {self._entry(self.count - 1)}"
        )
        if self._file is None:
            self._file = self._file_system.open(self._path)
        assert self._file.size == self.count * _ENTRY.size, f"{self._path} ends within an entry"
        self._file.append(_ENTRY.pack(VERSION, *transaction), b"")
        self.count += 1

    def add_before_marker(self, marker_offset: int, transaction: AbortedTransaction | None) -> None:
        """Add the transaction that the marker at marker_offset aborts, before the marker itself is written.

        In the other order a reader could see an aborted transaction as committed. Drops entries of a marker that could
        not be written at the same offset. After OSError the index is unchanged.
        """
        self._truncate_from(marker_offset)
        if transaction is not None:
            self.append(transaction)

    def remove_unwritten(self, marker_offset: int) -> None:
        """Drop the entry of a marker whose write failed; after OSError the next add_before_marker drops it."""
        with suppress(OSError):
            self._truncate_from(marker_offset)

    def _truncate_from(self, offset: int) -> None:
        count = self.count
        while count and self._entry(count - 1).last_offset >= offset:
            count -= 1
        if count < self.count:
            assert self._file is not None, f"{self._path} has entries and no file"
            self._file.truncate(count * _ENTRY.size)
            self.count = count

    def entries(self, first: int = 0) -> Iterator[AbortedTransaction]:
        """Yield the entries from index first on."""
        for _, *fields in self._fields(first):
            yield AbortedTransaction(*fields)

    def _fields(self, first: int) -> Iterator[tuple[int, ...]]:
        """Yield the fields of each entry, including the version."""
        while first < self.count:
            count = min(_ENTRIES_READ, self.count - first)
            yield from _ENTRY.iter_unpack(self._read(first, count))
            first += count

    def collect(self, fetch_offset: int, upper_offset: int) -> CollectedTransactions:
        """Return the transactions whose offsets overlap fetch_offset <= offset < upper_offset.

        Source: TransactionIndex.collectAbortedTxns, Kafka 4.3.0, which reads all entries. The entries skipped here can
        neither overlap nor end the search, because their last stable offset is at most the one after their marker.
        """
        found: list[AbortedTransaction] = []
        end = min(fetch_offset, upper_offset) - 1
        first = bisect_left(range(self.count), end, key=lambda number: self._entry(number).last_offset)
        for transaction in self.entries(first):
            if transaction.last_offset >= fetch_offset and transaction.first_offset < upper_offset:
                found.append(transaction)
            if transaction.last_stable_offset >= upper_offset:
                return CollectedTransactions(found, is_complete=True)
        return CollectedTransactions(found, is_complete=False)

    def _entry(self, number: int) -> AbortedTransaction:
        return AbortedTransaction(*_ENTRY.unpack(self._read(number, 1))[1:])

    def _read(self, first: int, count: int) -> memoryview:
        assert self._file is not None, f"{self._path} has entries and no file"
        return self._file.read(first * _ENTRY.size, count * _ENTRY.size)

    def check(self, base_offset: int) -> None:
        """Check the entries for a segment at base_offset; raises CorruptFileError.

        Source: TransactionIndex.sanityCheck, Kafka 4.3.0, which checks versions and markers before base_offset. This
        also finds a truncated entry and contradictory offsets.
        """
        size = self._file.size if self._file is not None else 0
        if size != self.count * _ENTRY.size:
            raise CorruptFileError(f"{self._path}: {size} bytes are not entries of {_ENTRY.size} bytes each")
        last_offset = base_offset - 1
        for number, (version, *fields) in enumerate(self._fields(0)):
            transaction = AbortedTransaction(*fields)
            if version != VERSION:
                raise CorruptFileError(f"{self._path}: entry {number} has version {version}, not {VERSION}")
            is_sound = (
                last_offset < transaction.last_offset
                and 0 <= transaction.first_offset <= transaction.last_offset
                and 0 <= transaction.last_stable_offset <= transaction.last_offset + 1
            )
            if not is_sound:
                raise CorruptFileError(f"{self._path}: entry {number} after offset {last_offset} is {transaction}")
            last_offset = transaction.last_offset

    def clear(self) -> None:
        """Delete the entries and the file."""
        if self._file is not None:
            self._file.close()
            self._file_system.delete(self._path)
        self._file = None
        self.count = 0

    def sync_steps(self) -> list[Callable[[], None]]:
        """Return the steps that sync the file."""
        return [] if self._file is None else [self._file.begin_sync(is_written_again=True)]

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        if self._file is not None:
            self._file.close()
