"""Draws record batches: valid ones, with wrong header fields, with damaged or compressed records, and bombs."""

from __future__ import annotations

from random import Random

from fauxka.protocol.batches.compression import compress
from fauxka.protocol.batches.record_batch import Compression

from ..protocol.batch_bytes import batch, record

CODECS = tuple(Compression)[1:]
# Decompressed. Each takes a few milliseconds to decompress.
BOMB_BYTES = (64 * 1024, 1024 * 1024, 4 * 1024 * 1024)
EXTREMES = (-1, 0, 1, 2**15 - 1, 2**31 - 1, -(2**31))
TRANSACTIONAL, CONTROL = 0x10, 0x20

# Kept for all draws, because compression takes longer than anything else here.
_bombs: dict[tuple[Compression, int, bool], bytes] = {}


def draw_records(random: Random) -> bytes | None:
    """Return the records of a partition: null, nothing, one batch, several batches, or bytes that are none."""
    choice = random.random()
    if choice < 0.03:
        return None
    if choice < 0.06:
        return random.randbytes(random.choice((0, 1, 12, 60, 61, 70)))
    if choice < 0.12:
        return b"".join(draw_batch(random) for _ in range(random.randint(2, 3)))
    encoded = draw_batch(random)
    if choice < 0.2:
        return _damaged(random, encoded)
    return encoded


def draw_batch(random: Random) -> bytes:
    """Return one batch with a valid checksum, unless that is what is wrong with it."""
    choice = random.random()
    if choice < 0.06:
        return _bomb(random)
    count = random.choice((1, 1, 2, 5, 20))
    payload = b"".join(_record(random, delta) for delta in range(count))
    attributes = 0
    if choice < 0.3:
        codec = random.choice(CODECS)
        attributes |= codec
        payload = compress(codec, payload)
        if choice < 0.12:
            payload = _damaged(random, payload)
    elif choice < 0.4:
        payload = _damaged(random, payload)
    producer = _producer(random)
    if producer["producer_id"] >= 0 and random.random() < 0.3:
        attributes |= TRANSACTIONAL
    return batch(
        payload,
        **{"count": count, "last_offset_delta": count - 1, "attributes": attributes, **producer, **_wrong(random)},
    )


def _producer(random: Random) -> dict[str, int]:
    if random.random() < 0.5:
        return {"producer_id": -1, "producer_epoch": -1, "base_sequence": -1}
    return {
        "producer_id": random.randint(0, 8),
        "producer_epoch": random.choice((0, 0, 0, 1, 2, 32767)),
        "base_sequence": random.choice((0, 0, 1, 2, 5, 2**31 - 1)),
    }


def _wrong(random: Random) -> dict[str, int]:
    """Return no change in most batches, else a wrong value for one field of the header."""
    if random.random() < 0.75:
        return {}
    field = random.choice(
        (
            "attributes",
            "last_offset_delta",
            "base_timestamp",
            "max_timestamp",
            "leader_epoch",
            "magic",
            "count",
            "crc_error",
            "length_error",
            "base_offset",
            "producer_epoch",
            "base_sequence",
        )
    )
    match field:
        case "attributes":
            return {
                field: random.choice(
                    (1, 2, 3, 4, 5, 7, 8, TRANSACTIONAL, CONTROL, CONTROL | TRANSACTIONAL, 0x40, 0x7FFF)
                )
            }
        case "magic":
            return {field: random.choice((-1, 0, 1, 3))}
        case "crc_error" | "length_error":
            return {field: 1}
        case "producer_epoch":
            return {field: random.choice((-2, -1, 0, 32767, -32768))}
        case _:
            return {field: random.choice(EXTREMES)}


def _record(random: Random, delta: int) -> bytes:
    value = random.choice((b"", b"value", None, bytes(100), random.randbytes(30)))
    key = random.choice((None, b"", b"key", b"key-%d" % random.randrange(4)))
    headers = [(b"h", None), (b"name", b"content")][: random.choice((0, 0, 0, 1, 2))]
    wrong = random.random() < 0.03
    return record(
        value,
        key,
        offset_delta=delta if not wrong else random.choice(EXTREMES),
        timestamp_delta=random.choice((0, 0, 1, -5)),
        headers=headers,
        length_error=random.choice((0, 0, 1, -1)) if wrong else 0,
    )


def _bomb(random: Random) -> bytes:
    """Return a small batch whose records are large: one record of zeros, or zeros that are no records."""
    codec, size, is_valid = random.choice(CODECS), random.choice(BOMB_BYTES), random.random() < 0.5
    payload = _bombs.get((codec, size, is_valid))
    if payload is None:
        payload = compress(codec, record(bytes(size)) if is_valid else bytes(size))
        _bombs[codec, size, is_valid] = payload
    return batch(payload, count=1 if is_valid else random.choice((1, size, 2**31 - 1)), attributes=codec)


def _damaged(random: Random, data: bytes) -> bytes:
    """Return data with some bytes changed, removed or inserted."""
    position = random.randrange(len(data) + 1)
    removed = random.choice((0, 1, 1, 4))
    inserted = random.choice((b"", b"\xff", b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff\x0f", random.randbytes(2)))
    return data[:position] + inserted + data[position + removed :]
