"""The records every client sends, and what must be true of them when they are read back."""

import time
from collections.abc import Iterable
from dataclasses import dataclass

RECORD_COUNT = 1_000
PARTITION_COUNT = 3
KEY_COUNT = 50

# An hour ago: no broker takes it for the future, and no retention for the past.
FIRST_TIMESTAMP_MS = int(time.time() * 1000) - 3_600_000
TIMESTAMP_STEP_MS = 10

# Text that compresses well, with letters of two and three bytes in it.
SENTENCE = "Übergabe an das Lager, 箱 "

Headers = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True)
class Record:
    """A record as an application sends it."""

    partition: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    timestamp_ms: int


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record as it was read, with the offset it has."""

    offset: int
    record: Record


def thousand_records() -> list[Record]:
    """Return RECORD_COUNT records, in turn over the partitions: no two alike, some without a key, value or headers."""
    return [numbered_record(number) for number in range(RECORD_COUNT)]


def numbered_record(number: int) -> Record:
    """Return the record of that number. Its value is unique, unless it is null."""
    value = f"{number}:{SENTENCE * (number % 7)}".encode()
    return Record(
        partition=number % PARTITION_COUNT,
        key=None if number % 100 == 99 else f"key-{number % KEY_COUNT}".encode(),
        value=None if number % 100 == 50 else value,
        headers=_headers(number),
        timestamp_ms=FIRST_TIMESTAMP_MS + number * TIMESTAMP_STEP_MS,
    )


def _headers(number: int) -> Headers:
    if number % 10 == 0:
        return ()
    # The same name twice, bytes that are no text, and a value that is empty: all of it is allowed.
    return (("number", str(number).encode()), ("raw", b"\xff\x00\xfe"), ("raw", b""))


def by_partition(records: Iterable[Record]) -> dict[int, list[Record]]:
    """Return the records of each partition, in the order in which they came."""
    partitions: dict[int, list[Record]] = {}
    for record in records:
        partitions.setdefault(record.partition, []).append(record)
    return partitions


def stored_by_partition(stored: Iterable[StoredRecord]) -> dict[int, list[Record]]:
    """Return the same of records that were read."""
    return by_partition(each.record for each in stored)


def offsets_by_partition(stored: Iterable[StoredRecord]) -> dict[int, list[int]]:
    """Return the offsets read from each partition, in the order in which they came."""
    partitions: dict[int, list[int]] = {}
    for each in stored:
        partitions.setdefault(each.record.partition, []).append(each.offset)
    return partitions


def offsets_from_zero(records: Iterable[Record]) -> dict[int, list[int]]:
    """Return the offsets that these records get in a topic that was empty before."""
    return {partition: list(range(len(alike))) for partition, alike in by_partition(records).items()}
