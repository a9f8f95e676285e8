"""Kafka's wire types: a reader bounded by the bytes that are left. The writer that mirrors it stands in wire_writer.

A length or a count is checked against the bytes left before anything is reserved for it, so that no frame can make us
hold more than a fixed multiple of its own size. Whatever the bytes are, reading gives a value or raises FrameError.

Kafka's generated readers are followed in two leniencies: any negative length means null where null is allowed, and any
byte but 0 is true. Three things are refused that Kafka lets pass: text that is not UTF-8 (Kafka replaces the bytes, and
a name would come back changed), a varint with bits beyond its width (Kafka drops them), and a known tagged field that
does not fill its size (Kafka does not look at the size).
Source: ByteBufferAccessor, ByteUtils and the generated *Data.read methods, Kafka 4.3.0.
"""

import struct
from typing import Never

from .frames import FrameError
from .wire_writer import (
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    STRING_BYTES_MAX,
    UINT16,
    UINT32_MAX,
    UUID_BYTES,
    ZERO_UUID,
    Buffer,
    Writer,
    required,
)

__all__ = [
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "TAGGED_FIELD_BYTES_MIN",
    "UINT16",
    "ZERO_UUID",
    "Buffer",
    "Reader",
    "Writer",
    "required",
]

# Seven bits of the value a byte: 5 bytes hold 32 bits. A sixth byte is refused.
VARINT_BYTES_MAX = 5

# The tag and the size of a tagged field take a byte each at least.
TAGGED_FIELD_BYTES_MIN = 2


class Reader:
    """Reads Kafka's wire types from position on; every method moves position behind what it read.

    buffer: not copied; what is read from it (strings, data, uuids) is.
    end: where reading stops although the buffer goes on.
    Every method raises FrameError for bytes that are not such a value; position is then of no meaning.
    """

    __slots__ = ("buffer", "end", "position")

    def __init__(self, buffer: Buffer, position: int = 0, end: int | None = None) -> None:
        """Read buffer from position to end, or to its own end."""
        # The bound is part of the buffer, so that unpacking and indexing stop at it without a check of ours.
        self.buffer = buffer if end is None or end == len(buffer) else memoryview(buffer)[:end]
        self.position = position
        self.end = len(self.buffer)
        if not 0 <= position <= self.end:
            raise FrameError(f"position {position} lies outside the {self.end} bytes to be read")

    @property
    def remaining(self) -> int:
        """How many bytes are left."""
        return self.end - self.position

    def _ended(self, wanted: int) -> Never:
        raise FrameError(f"{wanted} bytes wanted at position {self.position}, {self.end - self.position} left")

    def integers(self, layout: struct.Struct) -> tuple[int, ...]:
        """Read a run of integers laid out as the struct says: one call where a message has several side by side."""
        try:
            values = layout.unpack_from(self.buffer, self.position)
        except struct.error:
            self._ended(layout.size)
        self.position += layout.size
        return values

    def _integer(self, layout: struct.Struct) -> int:
        try:
            value: int = layout.unpack_from(self.buffer, self.position)[0]
        except struct.error:
            self._ended(layout.size)
        self.position += layout.size
        return value

    def int8(self) -> int:
        """Read one signed byte."""
        return self._integer(INT8)

    def int16(self) -> int:
        """Read two bytes, signed."""
        return self._integer(INT16)

    def int32(self) -> int:
        """Read four bytes, signed."""
        return self._integer(INT32)

    def int64(self) -> int:
        """Read eight bytes, signed."""
        return self._integer(INT64)

    def uint16(self) -> int:
        """Read two bytes, unsigned."""
        return self._integer(UINT16)

    def float64(self) -> float:
        """Read an IEEE 754 double."""
        try:
            value: float = FLOAT64.unpack_from(self.buffer, self.position)[0]
        except struct.error:
            self._ended(FLOAT64.size)
        self.position += FLOAT64.size
        return value

    def boolean(self) -> bool:
        """Read one byte; any but 0 is true."""
        return self._integer(INT8) != 0

    def uuid(self) -> bytes:
        """Read the 16 bytes of a uuid; all zero is how Kafka says "none"."""
        return self._bytes(UUID_BYTES)

    def _bytes(self, length: int) -> bytes:
        position = self.position
        end = position + length
        if end > self.end:
            self._ended(length)
        self.position = end
        return bytes(self.buffer[position:end])

    def _text(self, length: int) -> str:
        position = self.position
        end = position + length
        if length > STRING_BYTES_MAX:
            raise FrameError(f"string of {length} bytes at position {position}, {STRING_BYTES_MAX} are allowed")
        if end > self.end:
            self._ended(length)
        self.position = end
        try:
            return str(self.buffer[position:end], "utf-8")
        except UnicodeDecodeError as error:
            raise FrameError(f"string of {length} bytes at position {position} is not UTF-8: {error.reason}") from None

    def unsigned_varint(self) -> int:
        """Read an unsigned number of up to 32 bits in one to five bytes."""
        try:
            value = self.buffer[self.position]
        except IndexError:
            self._ended(1)
        # Lengths and tags are nearly always below 128.
        if value < 0x80:
            self.position += 1
            return value
        return self._long_varint()

    def _long_varint(self) -> int:
        value = 0
        start = self.position
        for index, byte in enumerate(self.buffer[start : start + VARINT_BYTES_MAX]):
            value |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                if value > UINT32_MAX:
                    raise FrameError(f"varint at position {start} is {value}, more than {UINT32_MAX}")
                self.position = start + index + 1
                return value
        if self.end - start < VARINT_BYTES_MAX:
            self._ended(self.end - start + 1)
        raise FrameError(f"varint at position {start} does not end after {VARINT_BYTES_MAX} bytes")

    def varint(self) -> int:
        """Read a signed number of 32 bits, zigzag encoded, in one to five bytes."""
        value = self.unsigned_varint()
        return (value >> 1) ^ -(value & 1)

    def string(self) -> str:
        """Read text behind an int16 length."""
        length = self._integer(INT16)
        if length < 0:
            self._null("string")
        return self._text(length)

    def nullable_string(self) -> str | None:
        """Read text behind an int16 length; a negative length is null."""
        length = self._integer(INT16)
        return None if length < 0 else self._text(length)

    def compact_string(self) -> str:
        """Read text behind a varint of its length plus 1."""
        length = self.unsigned_varint() - 1
        if length < 0:
            self._null("string")
        return self._text(length)

    def compact_nullable_string(self) -> str | None:
        """Read text behind a varint of its length plus 1; 0 is null."""
        length = self.unsigned_varint() - 1
        return None if length < 0 else self._text(length)

    def data(self) -> bytes:
        """Read bytes behind an int32 length."""
        length = self._integer(INT32)
        if length < 0:
            self._null("data")
        return self._bytes(length)

    def nullable_data(self) -> bytes | None:
        """Read bytes behind an int32 length; a negative length is null."""
        length = self._integer(INT32)
        return None if length < 0 else self._bytes(length)

    def compact_data(self) -> bytes:
        """Read bytes behind a varint of their length plus 1."""
        length = self.unsigned_varint() - 1
        if length < 0:
            self._null("data")
        return self._bytes(length)

    def compact_nullable_data(self) -> bytes | None:
        """Read bytes behind a varint of their length plus 1; 0 is null."""
        length = self.unsigned_varint() - 1
        return None if length < 0 else self._bytes(length)

    def _null(self, what: str) -> Never:
        raise FrameError(f"null {what} before position {self.position}, where this version allows none")

    def _too_many(self, count: int, element_bytes_min: int) -> Never:
        raise FrameError(
            f"array of {count} elements of at least {element_bytes_min} bytes at position {self.position}, "
            f"{self.end - self.position} bytes left"
        )

    def array_length(self, element_bytes_min: int) -> int:
        """Read an int32 count of elements, none of which is smaller than element_bytes_min (1 or more)."""
        count = self._integer(INT32)
        if count < 0:
            self._null("array")
        if count * element_bytes_min > self.end - self.position:
            self._too_many(count, element_bytes_min)
        return count

    def nullable_array_length(self, element_bytes_min: int) -> int | None:
        """Read an int32 count of elements; a negative one is null."""
        count = self._integer(INT32)
        if count < 0:
            return None
        if count * element_bytes_min > self.end - self.position:
            self._too_many(count, element_bytes_min)
        return count

    def compact_array_length(self, element_bytes_min: int) -> int:
        """Read a varint of the count of elements plus 1."""
        count = self.unsigned_varint() - 1
        if count < 0:
            self._null("array")
        if count * element_bytes_min > self.end - self.position:
            self._too_many(count, element_bytes_min)
        return count

    def compact_nullable_array_length(self, element_bytes_min: int) -> int | None:
        """Read a varint of the count of elements plus 1; 0 is null."""
        count = self.unsigned_varint() - 1
        if count < 0:
            return None
        if count * element_bytes_min > self.end - self.position:
            self._too_many(count, element_bytes_min)
        return count

    def integer_list(self, element: struct.Struct, count: int) -> list[int]:
        """Read count integers, each laid out as element says; count has been checked by one of the array lengths."""
        # Lists of replicas and the like: mostly one, often none.
        if count == 0:
            return []
        if count == 1:
            return [self._integer(element)]
        size = count * element.size
        if size > self.end - self.position:
            self._ended(size)
        values = struct.unpack_from(f">{count}{element.format[1:]}", self.buffer, self.position)
        self.position += size
        return list(values)

    def is_null_struct(self) -> bool:
        """Read the byte before a nullable struct: negative is null.

        Source: KIP-893, and CursorRequest in DescribeTopicPartitionsRequestData.read.
        """
        return self._integer(INT8) < 0

    def tagged_field_count(self) -> int:
        """Read how many tagged fields follow."""
        count = self.unsigned_varint()
        if count * TAGGED_FIELD_BYTES_MIN > self.end - self.position:
            self._too_many(count, TAGGED_FIELD_BYTES_MIN)
        return count

    def tagged_field_end(self) -> int:
        """Read the size of a tagged field, behind its tag, and return the position where it ends."""
        size = self.unsigned_varint()
        if size > self.end - self.position:
            self._ended(size)
        return self.position + size

    def refuse_tag(self, tag: int, version: int) -> Never:
        """Raise for a tag that other versions of the message have: Kafka passes over unknown tags, but not over it."""
        raise FrameError(f"tag {tag} before position {self.position} is not one of version {version}")

    def end_tagged_field(self, end: int) -> None:
        """Check that a tagged field that was read filled its size exactly."""
        if self.position != end:
            raise FrameError(f"tagged field read up to position {self.position}, its size says {end}")

    def skip_tagged_fields(self) -> None:
        """Pass over all tagged fields, none of which is known."""
        for _ in range(self.tagged_field_count()):
            self.unsigned_varint()
            self.position = self.tagged_field_end()
