"""Writer of Kafka's wire types; its counterpart is Reader in primitives, from where both are imported.

A value that does not fit its wire type raises ValueError before any byte of it is written.
"""

import struct
from collections.abc import Sequence
from struct import Struct
from typing import Protocol, TypeVar

T = TypeVar("T")

Buffer = bytes | bytearray | memoryview

UUID_BYTES = 16
ZERO_UUID = bytes(UUID_BYTES)

INT8 = Struct(">b")
INT16 = Struct(">h")
INT32 = Struct(">i")
INT64 = Struct(">q")
UINT16 = Struct(">H")
FLOAT64 = Struct(">d")

UINT32_MAX = 2**32 - 1

# Kafka allows no longer string in any encoding, even if the length field could hold more.
STRING_BYTES_MAX = 2**15 - 1
# Lengths are an int32, or an unsigned varint of the length plus 1 that Kafka stores in an int32.
DATA_BYTES_MAX = 2**31 - 2

NAMES = {"b": "int8", "h": "int16", "i": "int32", "q": "int64", "H": "uint16", "d": "float64"}


def required(value: T | None, name: str) -> T:
    """Return value. Raises ValueError if it is None, because this version of the message has no null for the field."""
    if value is None:
        raise ValueError(f"{name} is null, which this version of the message does not allow")
    return value


def _misfit(layout: str, values: Sequence[float]) -> ValueError:
    wanted = " ".join(NAMES[code] for code in layout.lstrip(">0123456789"))
    shown = ", ".join(map(repr, values[:8]))
    return ValueError(f"{shown} cannot be written as {wanted}")


class WritableStruct(Protocol):
    """A message or a struct inside one."""

    def write(self, writer: "Writer", version: int) -> None:
        """Write the fields of this version."""
        ...


class Writer:
    """Appends Kafka's wire types to buffer; every method raises ValueError for a value that does not fit.

    flexible, for methods that have it: a length or count is a varint of it plus 1, and 0 is null (KIP-482).
    """

    __slots__ = ("buffer",)

    def __init__(self) -> None:
        """Start with an empty buffer."""
        self.buffer = bytearray()

    def getvalue(self) -> bytes:
        """Return a copy of the buffer."""
        return bytes(self.buffer)

    def integers(self, layout: Struct, *values: int) -> None:
        """Write adjacent integers in one step. layout: their struct."""
        try:
            self.buffer += layout.pack(*values)
        except struct.error:
            raise _misfit(layout.format, values) from None

    def _number(self, layout: Struct, value: float) -> None:
        try:
            self.buffer += layout.pack(value)
        except struct.error:
            raise _misfit(layout.format, (value,)) from None

    def int8(self, value: int) -> None:
        """Write one signed byte."""
        self._number(INT8, value)

    # The most frequent integers are written without a call of _number.

    def int16(self, value: int) -> None:
        """Write two bytes, signed."""
        try:
            self.buffer += INT16.pack(value)
        except struct.error:
            raise _misfit(INT16.format, (value,)) from None

    def int32(self, value: int) -> None:
        """Write four bytes, signed."""
        try:
            self.buffer += INT32.pack(value)
        except struct.error:
            raise _misfit(INT32.format, (value,)) from None

    def int64(self, value: int) -> None:
        """Write eight bytes, signed."""
        try:
            self.buffer += INT64.pack(value)
        except struct.error:
            raise _misfit(INT64.format, (value,)) from None

    def uint16(self, value: int) -> None:
        """Write two bytes, unsigned."""
        self._number(UINT16, value)

    def float64(self, value: float) -> None:
        """Write an IEEE 754 double."""
        self._number(FLOAT64, value)

    def boolean(self, value: bool) -> None:
        """Write 1 or 0 in one byte."""
        self.buffer.append(1 if value else 0)

    def uuid(self, value: bytes) -> None:
        """Write the 16 bytes of a uuid."""
        if len(value) != UUID_BYTES:
            raise ValueError(f"a uuid has {UUID_BYTES} bytes, this one has {len(value)}")
        self.buffer += value

    def unsigned_varint(self, value: int) -> None:
        """Write an unsigned number of up to 32 bits in one to five bytes."""
        if 0 <= value < 0x80:
            self.buffer.append(value)
        else:
            self._long_varint(value)

    def _long_varint(self, value: int) -> None:
        if not 0 <= value <= UINT32_MAX:
            raise ValueError(f"{value} cannot be written as a varint of up to {UINT32_MAX}")
        while value >= 0x80:
            self.buffer.append(value & 0x7F | 0x80)
            value >>= 7
        self.buffer.append(value)

    def varint(self, value: int) -> None:
        """Write a signed number of 32 bits, zigzag encoded."""
        self._long_varint(value << 1 if value >= 0 else (~value << 1) + 1)

    def string(self, value: str, flexible: bool = False) -> None:
        """Write an int16 length and the text in UTF-8."""
        encoded = value.encode()
        size = len(encoded)
        if size > STRING_BYTES_MAX:
            raise ValueError(f"a string has at most {STRING_BYTES_MAX} bytes, this one has {size}")
        if not flexible:
            self.buffer += INT16.pack(size)
        elif size < 0x7F:
            self.buffer.append(size + 1)
        else:
            self._long_varint(size + 1)
        self.buffer += encoded

    def nullable_string(self, value: str | None, flexible: bool = False) -> None:
        """Write an int16 length and the text in UTF-8; length -1 for null."""
        if value is None:
            self.buffer += b"\0" if flexible else b"\xff\xff"
        else:
            self.string(value, flexible)

    def compact_string(self, value: str) -> None:
        """Write a varint of the length plus 1 and the text in UTF-8."""
        self.string(value, True)

    def compact_nullable_string(self, value: str | None) -> None:
        """Write a varint of the length plus 1 and the text in UTF-8; 0 for null."""
        if value is None:
            self.buffer.append(0)
        else:
            self.compact_string(value)

    def data(self, value: Buffer, flexible: bool = False) -> None:
        """Write an int32 length and the bytes."""
        if flexible:
            self.unsigned_varint(_size(value) + 1)
        else:
            self.buffer += INT32.pack(_size(value))
        self.buffer += value

    def nullable_data(self, value: Buffer | None, flexible: bool = False) -> None:
        """Write an int32 length and the bytes; length -1 for null."""
        if value is None:
            self.buffer += b"\0" if flexible else b"\xff\xff\xff\xff"
        else:
            self.data(value, flexible)

    def array_length(self, count: int, flexible: bool = False) -> None:
        """Write an int32 count of elements."""
        if flexible:
            self.unsigned_varint(count + 1)
        else:
            self.int32(count)

    def nullable_array_length(self, count: int | None, flexible: bool = False) -> None:
        """Write an int32 count of elements; -1 for null."""
        self.array_length(-1 if count is None else count, flexible)

    def _integer_list(self, element: Struct, values: Sequence[int]) -> None:
        """Write integers without a count. element: the struct of one."""
        # Most lists of integers are replicas: mostly one, often none.
        if not values:
            return
        layout = f">{len(values)}{element.format[1:]}" if len(values) > 1 else element.format
        try:
            self.buffer += struct.pack(layout, *values)
        except struct.error:
            raise _misfit(layout, values) from None

    def integer_array(self, element: Struct, values: Sequence[int], flexible: bool = False) -> None:
        """Write a count and integers. element: the struct of one."""
        if flexible:
            self.unsigned_varint(len(values) + 1)
        else:
            self.int32(len(values))
        self._integer_list(element, values)

    def nullable_integer_array(self, element: Struct, values: Sequence[int] | None, flexible: bool = False) -> None:
        """Write a count and integers, or null. element: the struct of one."""
        if values is None:
            self.nullable_array_length(None, flexible)
        else:
            self.integer_array(element, values, flexible)

    def string_array(self, values: Sequence[str], flexible: bool = False) -> None:
        """Write a count and strings."""
        self.array_length(len(values), flexible)
        for value in values:
            self.string(value, flexible)

    def nullable_string_array(self, values: Sequence[str] | None, flexible: bool = False) -> None:
        """Write a count and strings, or null."""
        if values is None:
            self.nullable_array_length(None, flexible)
        else:
            self.string_array(values, flexible)

    def struct_array(self, values: Sequence[WritableStruct], version: int, flexible: bool = False) -> None:
        """Write a count and structs of a version."""
        if flexible:
            self.unsigned_varint(len(values) + 1)
        else:
            self.int32(len(values))
        for value in values:
            value.write(self, version)

    def nullable_struct_array(
        self, values: Sequence[WritableStruct] | None, version: int, flexible: bool = False
    ) -> None:
        """Write a count and structs of a version, or null."""
        if values is None:
            self.nullable_array_length(None, flexible)
        else:
            self.struct_array(values, version, flexible)

    def null_struct(self) -> None:
        """Write the byte for a nullable struct that is null."""
        self.buffer.append(0xFF)

    def present_struct(self) -> None:
        """Write the byte before a nullable struct that is not null."""
        self.buffer.append(1)

    def no_tagged_fields(self) -> None:
        """Write an empty set of tagged fields."""
        self.buffer.append(0)

    def tagged_fields(self, fields: Sequence[tuple[int, "Writer"]]) -> None:
        """Write tagged fields. fields: tag and written value of each, in ascending order of tags."""
        self.unsigned_varint(len(fields))
        for tag, field in fields:
            self.unsigned_varint(tag)
            self.unsigned_varint(len(field.buffer))
            self.buffer += field.buffer


def _size(value: Buffer) -> int:
    size = len(value)
    if size > DATA_BYTES_MAX:
        raise ValueError(f"data has at most {DATA_BYTES_MAX} bytes, this has {size}")
    return size
