"""Values of DER, read as Java reads a certificate (sun.security.util.DerValue, Java 17).

A tag is one byte. A length may have more bytes than it needs. Indefinite lengths, which Java reads, are refused.
"""

from __future__ import annotations

from typing import NamedTuple

SEQUENCE = 0x30
SET = 0x31
OBJECT_IDENTIFIER = 0x06
# Longer lengths would be of values above 4 GB.
_LENGTH_BYTES_MAX = 4
_LONG_FORM = 0x80
_TAG_NUMBER = 0x1F
# Longer than any registered identifier. It bounds the digits of a number in it.
_IDENTIFIER_BYTES_MAX = 256


class DerError(ValueError):
    """Bytes that are no DER. The message is one line for the log."""


class DerValue(NamedTuple):
    """One value. content: without tag and length."""

    tag: int
    content: bytes

    @property
    def encoded(self) -> bytes:
        """The value with its tag, and its length in the shortest form."""
        length = len(self.content)
        if length < _LONG_FORM:
            return bytes((self.tag, length)) + self.content
        digits = length.to_bytes((length.bit_length() + 7) // 8)
        return bytes((self.tag, _LONG_FORM | len(digits))) + digits + self.content


def read_value(data: bytes) -> DerValue:
    """Return the value that the bytes are. Raises DerError."""
    values = _read_values(data)
    if len(values) != 1:
        raise DerError(f"expected one value, got {len(values)}")
    return values[0]


def values_in(value: DerValue, tag: int) -> list[DerValue]:
    """Return the values inside a sequence or set. tag: what the value must have. Raises DerError."""
    if value.tag != tag:
        raise DerError(f"expected tag {tag:#04x}, got {value.tag:#04x}")
    return _read_values(value.content)


def _read_values(data: bytes) -> list[DerValue]:
    values: list[DerValue] = []
    position = 0
    while position < len(data):
        tag = data[position]
        if tag & _TAG_NUMBER == _TAG_NUMBER:
            raise DerError(f"the value at byte {position} has a tag of several bytes")
        start, length = _read_length(data, position + 1)
        position = start + length
        if position > len(data):
            raise DerError(f"a value ends at byte {position}, after the last byte, {len(data)}")
        values.append(DerValue(tag, data[start:position]))
    return values


def _read_length(data: bytes, position: int) -> tuple[int, int]:
    """Return where the content begins, and its length. Raises DerError."""
    start = position + 1
    if start > len(data):
        raise DerError(f"the value before byte {position} has no length")
    first = data[position]
    if first < _LONG_FORM:
        return start, first
    size = first - _LONG_FORM
    if not 0 < size <= _LENGTH_BYTES_MAX or start + size > len(data):
        raise DerError(f"the length at byte {position} has {size} bytes; allowed: 1 to {_LENGTH_BYTES_MAX}")
    return start + size, int.from_bytes(data[start : start + size])


def read_object_identifier(value: DerValue) -> str:
    """Return an identifier such as "2.5.4.3". Raises DerError."""
    content = value.content
    if value.tag != OBJECT_IDENTIFIER or not content or content[-1] >= _LONG_FORM:
        raise DerError(f"expected an object identifier, got {value.encoded[:_IDENTIFIER_BYTES_MAX].hex()}")
    if len(content) > _IDENTIFIER_BYTES_MAX:
        raise DerError(f"an object identifier has {len(content)} bytes; allowed: {_IDENTIFIER_BYTES_MAX}")
    numbers: list[int] = []
    number, is_first = 0, True
    for byte in content:
        if is_first and byte == _LONG_FORM:
            raise DerError("a number of an object identifier is not in its shortest form")
        number, is_first = number << 7 | byte & 0x7F, byte < _LONG_FORM
        if is_first:
            numbers.append(number)
            number = 0
    root = min(numbers[0] // 40, 2)
    return ".".join(map(str, (root, numbers[0] - 40 * root, *numbers[1:])))
