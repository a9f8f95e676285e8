"""The transaction index: Kafka's bytes, the aborted transactions of a fetch, and damage."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.storage.corrupt_file import CorruptFileError
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.segments.transaction_index import AbortedTransaction, CollectedTransactions, TransactionIndex

from ..each_case import each_case

PATH = "t-0/00000000000000000002.txnindex"

# demo-0/00000000000000000002.txnindex of tests/golden/kafka-4.3.0-data-dir.
REAL = bytes.fromhex("0000 0000000000000000 0000000000000007 0000000000000008 0000000000000009")
REAL_TRANSACTION = AbortedTransaction(producer_id=0, first_offset=7, last_offset=8, last_stable_offset=9)

# Four producers whose transactions overlap.
OVERLAPPING = [
    AbortedTransaction(0, 0, 10, 11),
    AbortedTransaction(1, 5, 15, 13),
    AbortedTransaction(2, 18, 35, 25),
    AbortedTransaction(3, 32, 50, 40),
]


def index_of(*transactions: AbortedTransaction, files: MemoryFileSystem | None = None) -> TransactionIndex:
    index = TransactionIndex(files or MemoryFileSystem(), PATH)
    for transaction in transactions:
        index.append(transaction)
    return index


def index_holding(data: bytes) -> TransactionIndex:
    files = MemoryFileSystem()
    files.open(PATH).append(data, b"")
    return TransactionIndex(files, PATH)


def content(files: MemoryFileSystem) -> bytes:
    file = files.open(PATH)
    return bytes(file.read(0, file.size))


def test_entry_has_the_bytes_of_a_real_kafka() -> None:
    files = MemoryFileSystem()

    index_of(REAL_TRANSACTION, files=files)

    assert content(files) == REAL


def test_entry_of_a_real_kafka_is_decoded() -> None:
    index = index_holding(REAL)
    index.check(2)

    assert list(index.entries()) == [REAL_TRANSACTION]


def test_file_exists_only_with_entries() -> None:
    files = MemoryFileSystem()
    index = index_of(files=files)
    before = files.exists(PATH)
    index.append(REAL_TRANSACTION)
    with_entry = files.exists(PATH)
    index.clear()

    assert (before, with_entry, files.exists(PATH)) == (False, True, False)
    assert list(index.entries()) == []


def test_cleared_index_accepts_entries() -> None:
    index = index_of(*OVERLAPPING)
    index.clear()
    index.append(REAL_TRANSACTION)

    assert list(index.entries()) == [REAL_TRANSACTION]


def test_reopened_index_appends_after_its_entries() -> None:
    files = MemoryFileSystem()
    index_of(*OVERLAPPING[:2], files=files).close()

    index = index_of(*OVERLAPPING[2:], files=files)

    assert list(index.entries()) == OVERLAPPING


def test_more_entries_than_one_read_are_returned_in_order() -> None:
    many = [AbortedTransaction(number, number, number, number + 1) for number in range(1000)]
    index = index_of(*many)

    assert list(index.entries()) == many
    assert list(index.entries(700)) == many[700:]


def test_marker_before_the_last_entry_fails_the_assertion() -> None:
    index = index_of(REAL_TRANSACTION)

    with pytest.raises(AssertionError, match="does not follow"):
        index.append(REAL_TRANSACTION)


@pytest.mark.parametrize(
    ("fetch_offset", "upper_offset", "collected", "is_complete"),
    [
        (0, 100, [0, 1, 2, 3], False),
        (0, 32, [0, 1, 2], True),
        (0, 35, [0, 1, 2, 3], True),
        (10, 35, [0, 1, 2, 3], True),
        (11, 35, [1, 2, 3], True),
        (20, 41, [2, 3], False),
        (51, 60, [], False),
        (0, 1, [0], True),
        (0, 13, [0, 1], True),
        (0, 12, [0, 1], True),
        (0, 11, [0], True),
    ],
)
def test_transactions_are_collected_as_kafka_does(
    fetch_offset: int, upper_offset: int, collected: list[int], is_complete: bool
) -> None:
    index = index_of(*OVERLAPPING)

    expected = CollectedTransactions([OVERLAPPING[number] for number in collected], is_complete)
    assert index.collect(fetch_offset, upper_offset) == expected


def collected_by_kafka(
    transactions: list[AbortedTransaction], fetch_offset: int, upper_offset: int
) -> CollectedTransactions:
    """Collect transactions like TransactionIndex.collectAbortedTxns, entry by entry."""
    found: list[AbortedTransaction] = []
    for transaction in transactions:
        if transaction.last_offset >= fetch_offset and transaction.first_offset < upper_offset:
            found.append(transaction)
        if transaction.last_stable_offset >= upper_offset:
            return CollectedTransactions(found, is_complete=True)
    return CollectedTransactions(found, is_complete=False)


@st.composite
def sound_transactions(draw: st.DrawFn) -> list[AbortedTransaction]:
    markers = sorted(draw(st.sets(st.integers(1, 60), max_size=12)))
    return [
        AbortedTransaction(1, draw(st.integers(0, marker)), marker, draw(st.integers(0, marker + 1)))
        for marker in markers
    ]


@given(sound_transactions(), st.integers(0, 64), st.integers(0, 64))
def test_skipped_entries_do_not_change_the_result(
    transactions: list[AbortedTransaction], fetch_offset: int, upper_offset: int
) -> None:
    index = index_of(*transactions)

    assert index.collect(fetch_offset, upper_offset) == collected_by_kafka(transactions, fetch_offset, upper_offset)


def test_valid_index_passes_the_check() -> None:
    index_of(*OVERLAPPING).check(10)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ((1, 0, 7, 8, 9), "entry 1 has version 1, not 0"),
        ((0, 0, 7, 8, 9), "entry 1 after offset 8"),
        ((0, 0, 10, 9, 9), "entry 1 after offset 8"),
        ((0, 0, -1, 9, 9), "entry 1 after offset 8"),
        ((0, 0, 9, 9, 11), "entry 1 after offset 8"),
        ((0, 0, 9, 9, -1), "entry 1 after offset 8"),
    ],
    ids=["version", "same marker", "begins late", "begins before 0", "stable beyond", "stable before 0"],
)
def test_invalid_entry_fails_the_check(entry: tuple[int, ...], words: str) -> None:
    index = index_holding(REAL + struct.pack(">hqqqq", *entry))

    with pytest.raises(CorruptFileError, match=words):
        index.check(2)


def test_marker_before_the_segment_fails_the_check() -> None:
    index = index_holding(REAL)

    with pytest.raises(CorruptFileError, match="entry 0 after offset 8"):
        index.check(9)


@each_case([each for each in range(1, 2 * len(REAL)) if each != len(REAL)])
def test_truncated_entry_fails_the_check(size: int) -> None:
    index = index_holding((REAL + struct.pack(">hqqqq", 0, 0, 9, 9, 10))[:size])

    with pytest.raises(CorruptFileError, match=f"{size} bytes are not entries"):
        index.check(2)


@each_case(range(8 * len(REAL)))
def test_damaged_entry_fails_the_check_or_is_decoded(bit: int) -> None:
    damaged = bytearray(REAL)
    damaged[bit // 8] ^= 1 << bit % 8
    index = index_holding(bytes(damaged))

    try:
        index.check(2)
    except CorruptFileError:
        return
    assert len(list(index.entries())) == 1
    assert index.collect(0, 100).transactions
