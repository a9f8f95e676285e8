"""Reader of Kafka's wire types; its counterpart is Writer in wire_writer.

A length or a count is checked against the bytes left before memory is allocated for it. A frame can therefore make the
broker allocate no more than a fixed multiple of the frame's size. A request has a limit of elements as well, because an
element costs more time and memory than its bytes. Any bytes give a value or raise FrameError.

As in Kafka's generated readers, any negative length means null if null is allowed, and any byte but 0 is true.
Three things are rejected that Kafka accepts. Text that is not UTF-8: Kafka replaces the bytes, so a name would change.
A varint with bits beyond its width: Kafka drops them. A known tagged field that does not fill its size: Kafka ignores
the size.
Source: ByteBufferAccessor, ByteUtils and the generated *Data.read methods, Kafka 4.3.0.
"""

import struct
from collections.abc import Callable, Mapping
from typing import Never, Protocol, Self, TypeVar

from .frames import REQUEST_ELEMENTS_MAX, FrameError, take_elements
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

T = TypeVar("T")

_NO_LIMIT = 2**63

# Each byte holds seven bits, so 32 bits need 5 bytes. A sixth byte is rejected.
VARINT_BYTES_MAX = 5

# The tag and the size of a tagged field have at least one byte each.
TAGGED_FIELD_BYTES_MIN = 2


class ReadableStruct(Protocol):
    """A message or a struct inside one."""

    def read_fields(self, reader: "Reader", version: int) -> None:
        """Read the fields of this version. Raises FrameError."""


SomeStruct = TypeVar("SomeStruct", bound=ReadableStruct)


class Reader:
    """Reads Kafka's wire types; every method advances position past the value.

    buffer: not copied; strings, data and uuids that are read from it are copies.
    end: the position where reading stops, at most the length of the buffer.
    elements_left: how many elements of arrays and tagged fields may still be read.
    flexible, for methods that have it: a length or count is a varint of it plus 1, and 0 is null (KIP-482).
    Every method raises FrameError for bytes that are not such a value; position is then undefined.
    """

    __slots__ = ("buffer", "elements_left", "end", "position")

    def __init__(self, buffer: Buffer, position: int = 0, end: int | None = None) -> None:
        """Read buffer from position to end, or to its own end, without a limit of elements."""
        # The buffer is cut at end, so that unpacking and indexing check the bound.
        if end is not None and end != len(buffer):
            buffer = memoryview(buffer)[:end]
        end = len(buffer)
        if not 0 <= position <= end:
            raise FrameError(f"position {position} is outside of the {end} bytes to read")
        self.buffer = buffer
        self.position = position
        self.end = end
        self.elements_left = _NO_LIMIT

    @classmethod
    def of_request(cls, buffer: Buffer, position: int = 0, end: int | None = None) -> Self:
        """Return a reader of a request, which may have up to REQUEST_ELEMENTS_MAX elements."""
        reader = cls(buffer, position, end)
        reader.elements_left = REQUEST_ELEMENTS_MAX
        return reader

    @property
    def remaining(self) -> int:
        """How many bytes are left."""
        return self.end - self.position

    def _ended(self, wanted: int) -> Never:
        raise FrameError(f"expected {wanted} bytes at position {self.position}, {self.end - self.position} left")

    def integers(self, layout: struct.Struct) -> tuple[int, ...]:
        """Read adjacent integers in one step. layout: their struct."""
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

    # The most frequent integers are read without a call of _integer.

    def int16(self) -> int:
        """Read two bytes, signed."""
        try:
            value: int = INT16.unpack_from(self.buffer, self.position)[0]
        except struct.error:
            self._ended(2)
        self.position += 2
        return value

    def int32(self) -> int:
        """Read four bytes, signed."""
        try:
            value: int = INT32.unpack_from(self.buffer, self.position)[0]
        except struct.error:
            self._ended(4)
        self.position += 4
        return value

    def int64(self) -> int:
        """Read eight bytes, signed."""
        try:
            value: int = INT64.unpack_from(self.buffer, self.position)[0]
        except struct.error:
            self._ended(8)
        self.position += 8
        return value

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
        """Read the 16 bytes of a uuid; ZERO_UUID means none."""
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
        # Most lengths and tags are below 128.
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

    def string(self, flexible: bool = False) -> str:
        """Read an int16 length and text in UTF-8."""
        length = self.unsigned_varint() - 1 if flexible else self.int16()
        if length < 0:
            self._null("string")
        return self._text(length)

    def nullable_string(self, flexible: bool = False) -> str | None:
        """Read an int16 length and text in UTF-8; a negative length is null."""
        length = self.unsigned_varint() - 1 if flexible else self.int16()
        return None if length < 0 else self._text(length)

    def compact_string(self) -> str:
        """Read a varint of the length plus 1 and text in UTF-8."""
        length = self.unsigned_varint() - 1
        if length < 0:
            self._null("string")
        return self._text(length)

    def compact_nullable_string(self) -> str | None:
        """Read a varint of the length plus 1 and text in UTF-8; 0 is null."""
        length = self.unsigned_varint() - 1
        return None if length < 0 else self._text(length)

    def data(self, flexible: bool = False) -> bytes:
        """Read an int32 length and bytes."""
        length = self.unsigned_varint() - 1 if flexible else self.int32()
        if length < 0:
            self._null("data")
        return self._bytes(length)

    def nullable_data(self, flexible: bool = False) -> bytes | None:
        """Read an int32 length and bytes; a negative length is null."""
        length = self.unsigned_varint() - 1 if flexible else self.int32()
        return None if length < 0 else self._bytes(length)

    def _null(self, what: str) -> Never:
        raise FrameError(f"null {what} before position {self.position}, where this version allows none")

    def _check_count(self, count: int, element_bytes_min: int) -> int:
        if count * element_bytes_min > self.end - self.position:
            raise FrameError(
                f"array of {count} elements of at least {element_bytes_min} bytes at position {self.position}, "
                f"{self.end - self.position} bytes left"
            )
        self.elements_left = take_elements(self.elements_left, count, REQUEST_ELEMENTS_MAX)
        return count

    def array_length(self, element_bytes_min: int, flexible: bool = False) -> int:
        """Read an int32 count of elements. element_bytes_min: the size of the smallest element, 1 or more."""
        count = self.unsigned_varint() - 1 if flexible else self.int32()
        if count < 0:
            self._null("array")
        return self._check_count(count, element_bytes_min)

    def nullable_array_length(self, element_bytes_min: int, flexible: bool = False) -> int | None:
        """Read an int32 count of elements; a negative one is null."""
        count = self.unsigned_varint() - 1 if flexible else self.int32()
        return None if count < 0 else self._check_count(count, element_bytes_min)

    def _integer_list(self, element: struct.Struct, count: int) -> list[int]:
        """Read count integers. element: the struct of one. count: from one of the array length methods."""
        # Most lists of integers are replicas: mostly one, often none.
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

    def integer_array(self, element: struct.Struct, flexible: bool = False) -> list[int]:
        """Read a count and integers. element: the struct of one."""
        return self._integer_list(element, self.array_length(element.size, flexible))

    def nullable_integer_array(self, element: struct.Struct, flexible: bool = False) -> list[int] | None:
        """Read a count and integers, or null. element: the struct of one."""
        count = self.nullable_array_length(element.size, flexible)
        return None if count is None else self._integer_list(element, count)

    def string_array(self, flexible: bool = False) -> list[str]:
        """Read a count and strings."""
        return [self.string(flexible) for _ in range(self.array_length(1 if flexible else INT16.size, flexible))]

    def nullable_string_array(self, flexible: bool = False) -> list[str] | None:
        """Read a count and strings, or null."""
        count = self.nullable_array_length(1 if flexible else INT16.size, flexible)
        return None if count is None else [self.string(flexible) for _ in range(count)]

    def struct_array(
        self, struct_type: type[SomeStruct], version: int, element_bytes_min: int, flexible: bool = False
    ) -> list[SomeStruct]:
        """Read a count and structs. element_bytes_min: as for array_length."""
        return self._structs(struct_type, version, self.array_length(element_bytes_min, flexible))

    def nullable_struct_array(
        self, struct_type: type[SomeStruct], version: int, element_bytes_min: int, flexible: bool = False
    ) -> list[SomeStruct] | None:
        """Read a count and structs, or null; as struct_array."""
        count = self.nullable_array_length(element_bytes_min, flexible)
        return None if count is None else self._structs(struct_type, version, count)

    def _structs(self, struct_type: type[SomeStruct], version: int, count: int) -> list[SomeStruct]:
        structs: list[SomeStruct] = []
        for _ in range(count):
            struct = object.__new__(struct_type)
            struct.read_fields(self, version)
            structs.append(struct)
        return structs

    def is_null_struct(self) -> bool:
        """Read the byte before a nullable struct: negative is null.

        Source: KIP-893, and CursorRequest in DescribeTopicPartitionsRequestData.read.
        """
        return self._integer(INT8) < 0

    def tagged_field_count(self) -> int:
        """Read the number of tagged fields."""
        count = self.unsigned_varint()
        # Mostly there is none.
        return self._check_count(count, TAGGED_FIELD_BYTES_MIN) if count else 0

    def tagged_field_end(self) -> int:
        """Read the size of a tagged field, after its tag, and return the position where the field ends."""
        size = self.unsigned_varint()
        if size > self.end - self.position:
            self._ended(size)
        return self.position + size

    def reject_tag(self, tag: int, version: int) -> Never:
        """Raise FrameError for a tag of other versions of the message. Kafka skips unknown tags only."""
        raise FrameError(f"tag {tag} before position {self.position} does not exist in version {version}")

    def end_tagged_field(self, end: int) -> None:
        """Raise FrameError unless position is at the end of a tagged field. end: as tagged_field_end returned it."""
        if self.position != end:
            raise FrameError(f"the value of a tagged field ends at position {self.position}, its size says {end}")

    def tagged_fields(self, read_by_tag: Mapping[int, Callable[[Self], T]]) -> dict[int, T]:
        """Read all tagged fields and return the values of the known tags. read_by_tag: the method for each tag."""
        values: dict[int, T] = {}
        for _ in range(self.tagged_field_count()):
            tag = self.unsigned_varint()
            end = self.tagged_field_end()
            if tag in read_by_tag:
                values[tag] = read_by_tag[tag](self)
                self.end_tagged_field(end)
            else:
                self.position = end
        return values

    def skip_tagged_fields(self) -> None:
        """Skip all tagged fields."""
        count = self.unsigned_varint()
        # Mostly there is none.
        if not count:
            return
        for _ in range(self._check_count(count, TAGGED_FIELD_BYTES_MIN)):
            self.unsigned_varint()
            self.position = self.tagged_field_end()
