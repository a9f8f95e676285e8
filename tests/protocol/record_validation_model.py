"""Model of Kafka's decoding of a batch's records: field by field, slow and simple."""

from __future__ import annotations

from dataclasses import dataclass


class Underflow(Exception):
    """The bytes end in the middle of a field."""


class Invalid(Exception):
    """InvalidRecordException: the partition gets INVALID_RECORD."""


class Uncaught(Exception):
    """IllegalArgumentException that Kafka does not catch: the partition gets UNKNOWN_SERVER_ERROR."""


class Overlong(Exception):
    """IllegalArgumentException of a varint that does not end."""


@dataclass(frozen=True)
class ModelSummary:
    least_timestamp_delta: int
    greatest_timestamp_delta: int
    are_offsets_in_order: bool
    are_keys_present: bool


class ByteBuffer:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    @property
    def remaining(self) -> int:
        return len(self.data) - self.position

    def byte(self) -> int:
        if not self.remaining:
            raise Underflow
        self.position += 1
        return self.data[self.position - 1]

    def zigzag(self, bytes_max: int, bits: int) -> int:
        raw = 0
        for index in range(bytes_max):
            byte = self.byte()
            raw |= (byte & 127) << 7 * index
            if byte < 128:
                raw %= 1 << bits
                return (raw >> 1) ^ -(raw & 1)
        raise Overlong

    def varint(self) -> int:
        return self.zigzag(5, 32)

    def varlong(self) -> int:
        return self.zigzag(10, 64)

    def skip(self, size: int) -> None:
        if size > self.remaining:
            raise Overlong  # Java: IllegalArgumentException of ByteBuffer.limit, caught like that of a varint.
        self.position += max(size, 0)


def summary_of(data: bytes, count: int, *, are_lengths_checked: bool) -> ModelSummary:
    buffer = ByteBuffer(data)
    timestamps: list[int] = []
    is_in_order = has_keys = True
    for index in range(count):
        try:
            length = buffer.varint()
        except (Underflow, Overlong) as error:
            is_uncaught = isinstance(error, Overlong) and are_lengths_checked
            raise Uncaught if is_uncaught else Invalid from None
        start = buffer.position
        try:
            timestamp, offset, key_size = read_fields(buffer)
        except (Underflow, Overlong):
            raise Invalid from None
        if are_lengths_checked and buffer.position - start != length:
            raise Invalid
        timestamps.append(timestamp)
        is_in_order = is_in_order and offset == index
        has_keys = has_keys and key_size >= 0
    if buffer.remaining:
        raise Invalid
    return ModelSummary(min(timestamps), max(timestamps), is_in_order, has_keys)


def read_fields(buffer: ByteBuffer) -> tuple[int, int, int]:
    buffer.byte()
    timestamp = buffer.varlong()
    offset = buffer.varint()
    key_size = buffer.varint()
    buffer.skip(key_size)
    buffer.skip(buffer.varint())
    header_count = buffer.varint()
    if header_count < 0 or header_count > buffer.remaining:
        raise Invalid
    for _ in range(header_count):
        name_size = buffer.varint()
        if name_size < 0:
            raise Invalid
        buffer.skip(name_size)
        buffer.skip(buffer.varint())
    return timestamp, offset, key_size
