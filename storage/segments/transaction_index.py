"""Which transactions were aborted whose markers are in a segment: what readers of committed records leave out by.

Entries of 34 bytes: version int16 (0), producer_id, first_offset, last_offset (the marker), last_stable_offset. They
stand in the order of their markers; the file is there only if it has an entry. Entries are looked up in the file, so
that memory does not grow with the log.
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
# Read at a time: one read for nearly every index there is, and little memory for a large one.
_ENTRIES_READ = 256


class AbortedTransaction(NamedTuple):
    """An aborted transaction of one producer in one partition.

    last_offset: that of its marker. last_stable_offset: where that stood once the marker was written: the first offset
    of the earliest other open transaction, else the offset after the marker.
    """

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


@dataclass(frozen=True, slots=True)
class CollectedTransactions:
    """Aborted transactions of one segment, by their markers; is_complete says that no later segment has more."""

    transactions: list[AbortedTransaction]
    is_complete: bool


class TransactionIndex:
    """The transaction index of one segment."""

    __slots__ = ("_file", "_file_system", "_path", "count")

    def __init__(self, file_system: FileSystem, path: str) -> None:
        """Open the index at path; the file is made with the first entry. Its entries are checked by check alone."""
        self._file_system = file_system
        self._path = path
        self._file: File | None = file_system.open(path) if file_system.exists(path) else None
        self.count = self._file.size // _ENTRY.size if self._file is not None else 0

    def append(self, transaction: AbortedTransaction) -> None:
        """Add a transaction whose marker is behind those of all before; on OSError the index is as it was."""
        assert not self.count or transaction.last_offset > self._entry(self.count - 1).last_offset, (
            f"{transaction} is not behind {self._entry(self.count - 1)}"
        )
        if self._file is None:
            self._file = self._file_system.open(self._path)
        assert self._file.size == self.count * _ENTRY.size, f"{self._path} ends within an entry"
        self._file.append(_ENTRY.pack(VERSION, *transaction), b"")
        self.count += 1

    def begin(self, marker_offset: int, transaction: AbortedTransaction | None) -> None:
        """Add what a marker at marker_offset aborts, if anything, before the marker itself is written.

        Otherwise a reader could take it for committed. What another one there left that was not written is dropped.
        On OSError the index is as it was.
        """
        self._end_before(marker_offset)
        if transaction is not None:
            self.append(transaction)

    def take_back(self, marker_offset: int) -> None:
        """Drop what a marker at marker_offset aborts, which was not written; else the next begin does so."""
        with suppress(OSError):
            self._end_before(marker_offset)

    def _end_before(self, offset: int) -> None:
        count = self.count
        while count and self._entry(count - 1).last_offset >= offset:
            count -= 1
        if count < self.count:
            assert self._file is not None, f"{self._path} has entries and no file"
            self._file.truncate(count * _ENTRY.size)
            self.count = count

    def entries(self, first: int = 0) -> Iterator[AbortedTransaction]:
        """Yield the entries from the one with number first on."""
        for _, *fields in self._fields(first):
            yield AbortedTransaction(*fields)

    def _fields(self, first: int) -> Iterator[tuple[int, ...]]:
        """Yield the numbers of each entry, the version among them."""
        while first < self.count:
            count = min(_ENTRIES_READ, self.count - first)
            yield from _ENTRY.iter_unpack(self._read(first, count))
            first += count

    def collect(self, fetch_offset: int, upper_offset: int) -> CollectedTransactions:
        """Return the transactions that may have records from fetch_offset up to, and without, upper_offset.

        A transaction is among them by where it began and where its marker is, whether or not it has a record there.
        Source: TransactionIndex.collectAbortedTxns, Kafka 4.3.0, which goes through all entries. Those that are passed
        over here end so early that they would neither be taken nor end the search: the last stable offset of an entry
        is at most the one after its marker.
        """
        found: list[AbortedTransaction] = []
        for transaction in self.entries(self._first_ending_from(min(fetch_offset, upper_offset) - 1)):
            if transaction.last_offset >= fetch_offset and transaction.first_offset < upper_offset:
                found.append(transaction)
            if transaction.last_stable_offset >= upper_offset:
                return CollectedTransactions(found, is_complete=True)
        return CollectedTransactions(found, is_complete=False)

    def _first_ending_from(self, offset: int) -> int:
        return bisect_left(range(self.count), offset, key=lambda number: self._entry(number).last_offset)

    def _entry(self, number: int) -> AbortedTransaction:
        return AbortedTransaction(*_ENTRY.unpack(self._read(number, 1))[1:])

    def _read(self, first: int, count: int) -> memoryview:
        assert self._file is not None, f"{self._path} has entries and no file"
        return self._file.read(first * _ENTRY.size, count * _ENTRY.size)

    def check(self, base_offset: int) -> None:
        """Check that the entries can be those of a segment that begins at base_offset; raises CorruptFileError.

        Source: TransactionIndex.sanityCheck, Kafka 4.3.0, which looks at versions and at markers before base_offset;
        here an entry that is cut, and numbers that contradict one another, are found too.
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
                raise CorruptFileError(f"{self._path}: entry {number} behind offset {last_offset} is {transaction}")
            last_offset = transaction.last_offset

    def clear(self) -> None:
        """Drop all entries, and the file with them."""
        if self._file is not None:
            self._file.close()
            self._file_system.delete(self._path)
        self._file = None
        self.count = 0

    def sync_steps(self) -> list[Callable[[], None]]:
        """Return what makes the file safe; see File.begin_sync."""
        return [] if self._file is None else [self._file.begin_sync(is_written_again=True)]

    def close(self) -> None:
        """Give back what the open file costs."""
        if self._file is not None:
            self._file.close()
