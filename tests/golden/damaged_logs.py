"""Logs with damaged segments, for capture_damaged_logs.

A log has three segments of four batches of three records: offsets 0 to 11, 12 to 23 and, active, 24 to 35. All batches
have the same size. A damage changes the second or the third segment while the broker is stopped.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import raw_batches

FIRST_TIMESTAMP = 1_700_000_000_000
HOUR_MS = 3_600_000
SEGMENTS, BATCHES, RECORDS = 3, 4, 3
OFFSETS_OF_SEGMENT = BATCHES * RECORDS
LOG_END = SEGMENTS * OFFSETS_OF_SEGMENT
CLOSED, ACTIVE = 1, 2
VALUE = b"v" * 40
# Positions in a batch.
OFFSET_AT, LENGTH_AT, MAGIC_AT, LAST_OFFSET_DELTA_AT, RECORDS_AT = 0, 8, 16, 23, 61
# A topic has a log for each damage. With a dense index nearly every batch has an index entry, else none has.
TOPICS = {"sparse": "4096", "dense": "0"}


def batch_of(number: int) -> bytes:
    """Return the batch with that number of a log. The timestamps of a segment begin two hours after the previous."""
    timestamp = FIRST_TIMESTAMP + number // BATCHES * 2 * HOUR_MS + number % BATCHES * 1000
    return raw_batches.batch(RECORDS, timestamp, value=VALUE)


SIZE = len(batch_of(0))


@dataclass(frozen=True, slots=True)
class Damage:
    """A change of the content of one segment; None for a deleted file."""

    segment: int
    change: Callable[[bytes], bytes | None]


def cut(size: int) -> Callable[[bytes], bytes]:
    return lambda data: data[:size]


def without(start: int, end: int) -> Callable[[bytes], bytes]:
    return lambda data: data[:start] + data[end:]


def zeroed(start: int, end: int) -> Callable[[bytes], bytes]:
    return lambda data: data[:start] + bytes(end - start) + data[end:]


def flipped(position: int, bit: int) -> Callable[[bytes], bytes]:
    return lambda data: data[:position] + bytes((data[position] ^ 1 << bit,)) + data[position + 1 :]


def in_batch(number: int, position: int) -> int:
    return number * SIZE + position


# The second batch of the closed segment has the base offset 15, that of the active segment 27.
DAMAGES: dict[str, Damage] = {
    "none": Damage(CLOSED, lambda data: data),
    "closed: cut in the records of the third batch": Damage(CLOSED, cut(in_batch(2, SIZE // 2))),
    "closed: cut in the header of the third batch": Damage(CLOSED, cut(in_batch(2, 30))),
    "closed: cut in the first bytes of the third batch": Damage(CLOSED, cut(in_batch(2, 10))),
    "closed: cut between two batches": Damage(CLOSED, cut(in_batch(2, 0))),
    "closed: empty": Damage(CLOSED, cut(0)),
    "closed: deleted": Damage(CLOSED, lambda _: None),
    "closed: without the bytes from the second to the third batch": Damage(
        CLOSED, without(in_batch(1, SIZE // 2), in_batch(2, SIZE // 4))
    ),
    "closed: without the second batch": Damage(CLOSED, without(in_batch(1, 0), in_batch(2, 0))),
    "closed: without the first batch": Damage(CLOSED, without(0, in_batch(1, 0))),
    "closed: the second batch zeroed": Damage(CLOSED, zeroed(in_batch(1, 0), in_batch(2, 0))),
    "closed: zeroed from the second to the third batch": Damage(
        CLOSED, zeroed(in_batch(1, SIZE // 2), in_batch(2, SIZE // 2))
    ),
    "closed: zeroed from the third batch to the end": Damage(
        CLOSED, zeroed(in_batch(2, SIZE // 2), in_batch(BATCHES, 0))
    ),
    "closed: records of the second batch": Damage(CLOSED, flipped(in_batch(1, RECORDS_AT + 20), 3)),
    "closed: base offset 15 becomes 14": Damage(CLOSED, flipped(in_batch(1, OFFSET_AT + 7), 0)),
    "closed: base offset 15 becomes 31": Damage(CLOSED, flipped(in_batch(1, OFFSET_AT + 7), 4)),
    "closed: base offset 15 becomes 47": Damage(CLOSED, flipped(in_batch(1, OFFSET_AT + 7), 5)),
    "closed: base offset 15 becomes 2^40 + 15": Damage(CLOSED, flipped(in_batch(1, OFFSET_AT + 2), 0)),
    "closed: base offset 15 becomes negative": Damage(CLOSED, flipped(in_batch(1, OFFSET_AT), 7)),
    "closed: base offset 12 becomes 28": Damage(CLOSED, flipped(in_batch(0, OFFSET_AT + 7), 4)),
    "closed: length becomes small": Damage(CLOSED, flipped(in_batch(1, LENGTH_AT + 3), 7)),
    "closed: length becomes large": Damage(CLOSED, flipped(in_batch(1, LENGTH_AT + 2), 6)),
    "closed: length becomes negative": Damage(CLOSED, flipped(in_batch(1, LENGTH_AT), 7)),
    "closed: magic 2 becomes 0": Damage(CLOSED, flipped(in_batch(1, MAGIC_AT), 1)),
    "closed: magic 2 becomes 6": Damage(CLOSED, flipped(in_batch(1, MAGIC_AT), 2)),
    "closed: last offset delta 2 becomes 6": Damage(CLOSED, flipped(in_batch(1, LAST_OFFSET_DELTA_AT + 3), 2)),
    "closed: last offset delta becomes negative": Damage(CLOSED, flipped(in_batch(1, LAST_OFFSET_DELTA_AT), 7)),
    "active: cut in the records of the third batch": Damage(ACTIVE, cut(in_batch(2, SIZE // 2))),
    "active: without the second batch": Damage(ACTIVE, without(in_batch(1, 0), in_batch(2, 0))),
    "active: zeroed from the second to the third batch": Damage(
        ACTIVE, zeroed(in_batch(1, SIZE // 2), in_batch(2, SIZE // 2))
    ),
    "active: records of the second batch": Damage(ACTIVE, flipped(in_batch(1, RECORDS_AT + 20), 3)),
    "active: base offset 27 becomes 26": Damage(ACTIVE, flipped(in_batch(1, OFFSET_AT + 7), 0)),
    "active: base offset 27 becomes 31": Damage(ACTIVE, flipped(in_batch(1, OFFSET_AT + 7), 2)),
    "active: base offset 27 becomes 59": Damage(ACTIVE, flipped(in_batch(1, OFFSET_AT + 7), 5)),
    "active: base offset 27 becomes 2^40 + 27": Damage(ACTIVE, flipped(in_batch(1, OFFSET_AT + 2), 0)),
    "active: base offset 27 becomes negative": Damage(ACTIVE, flipped(in_batch(1, OFFSET_AT), 7)),
    "active: base offset 33 becomes 35": Damage(ACTIVE, flipped(in_batch(3, OFFSET_AT + 7), 1)),
    "active: base offset 33 becomes 97": Damage(ACTIVE, flipped(in_batch(3, OFFSET_AT + 7), 6)),
    "active: base offset 33 becomes 2^31 + 33": Damage(ACTIVE, flipped(in_batch(3, OFFSET_AT + 4), 7)),
    "active: base offset 24 becomes 56": Damage(ACTIVE, flipped(in_batch(0, OFFSET_AT + 7), 5)),
}


def damage_log(data: Path, topic: str, name: str) -> None:
    """Damage one log in a data folder that no broker uses. The number of the damage is that of the partition."""
    damage = DAMAGES[name]
    path = data / f"{topic}-{list(DAMAGES).index(name)}" / f"{damage.segment * OFFSETS_OF_SEGMENT:020d}.log"
    before = path.read_bytes()
    assert len(before) == BATCHES * SIZE, f"{path} has {len(before)} bytes"
    after = damage.change(before)
    if after is None:
        path.unlink()
    else:
        path.write_bytes(after)
