"""The wire types: encoding, decoding and rejected values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.protocol.frames import FrameError
from fauxka.protocol.messages.api_versions import ApiVersion
from fauxka.protocol.messages.fetch import FetchRequest
from fauxka.protocol.primitives import INT16, INT32, INT64, Reader, Writer, required

from .decoder_checks import check_decoder, decodes

UUID = bytes(range(16))

# The method of Reader and Writer, a value, and its bytes.
PAIRS: list[tuple[str, Any, bytes]] = [
    ("int8", -128, b"\x80"),
    ("int16", -2, b"\xff\xfe"),
    ("int32", 2147483647, b"\x7f\xff\xff\xff"),
    ("int64", -9223372036854775808, b"\x80" + bytes(7)),
    ("uint16", 65535, b"\xff\xff"),
    ("float64", 1.5, b"\x3f\xf8" + bytes(6)),
    ("boolean", True, b"\x01"),
    ("boolean", False, b"\x00"),
    ("uuid", UUID, UUID),
    ("unsigned_varint", 0, b"\x00"),
    ("unsigned_varint", 127, b"\x7f"),
    ("unsigned_varint", 128, b"\x80\x01"),
    ("unsigned_varint", 300, b"\xac\x02"),
    ("unsigned_varint", 4294967295, b"\xff\xff\xff\xff\x0f"),
    ("varint", 0, b"\x00"),
    ("varint", -1, b"\x01"),
    ("varint", 1, b"\x02"),
    ("varint", 2147483647, b"\xfe\xff\xff\xff\x0f"),
    ("varint", -2147483648, b"\xff\xff\xff\xff\x0f"),
    ("string", "", b"\x00\x00"),
    ("string", "tōpic", b"\x00\x06t\xc5\x8dpic"),
    ("nullable_string", None, b"\xff\xff"),
    ("nullable_string", "a", b"\x00\x01a"),
    ("compact_string", "", b"\x01"),
    ("compact_string", "a" * 127, b"\x80\x01" + b"a" * 127),
    ("compact_nullable_string", None, b"\x00"),
    ("compact_nullable_string", "a", b"\x02a"),
    ("data", b"\x00\xff", b"\x00\x00\x00\x02\x00\xff"),
    ("nullable_data", None, b"\xff\xff\xff\xff"),
    ("nullable_data", b"a", b"\x00\x00\x00\x01a"),
    ("string_array", [], b"\x00\x00\x00\x00"),
    ("string_array", ["", "a"], b"\x00\x00\x00\x02\x00\x00\x00\x01a"),
    ("nullable_string_array", None, b"\xff\xff\xff\xff"),
    ("nullable_string_array", ["a"], b"\x00\x00\x00\x01\x00\x01a"),
]

# In flexible versions: the method, called with flexible, a value, and its bytes.
FLEXIBLE_PAIRS: list[tuple[str, Any, bytes]] = [
    ("string", "", b"\x01"),
    ("string", "a" * 126, b"\x7f" + b"a" * 126),
    ("string", "a" * 127, b"\x80\x01" + b"a" * 127),
    ("nullable_string", None, b"\x00"),
    ("nullable_string", "a", b"\x02a"),
    ("data", b"", b"\x01"),
    ("nullable_data", None, b"\x00"),
    ("nullable_data", b"a", b"\x02a"),
    ("string_array", [], b"\x01"),
    ("string_array", ["", "a"], b"\x03\x01\x02a"),
    ("nullable_string_array", None, b"\x00"),
    ("nullable_string_array", ["a"], b"\x02\x02a"),
]


@pytest.mark.parametrize(("method", "value", "encoded"), PAIRS)
def test_value_is_encoded(method: str, value: object, encoded: bytes) -> None:
    writer = Writer()

    getattr(writer, method)(value)

    assert writer.getvalue() == encoded


@pytest.mark.parametrize(("method", "value", "encoded"), PAIRS)
def test_value_is_decoded(method: str, value: object, encoded: bytes) -> None:
    check_decoder(getattr(Reader, method), encoded, value)


@pytest.mark.parametrize(("method", "value", "encoded"), FLEXIBLE_PAIRS)
def test_value_is_encoded_as_in_flexible_versions(method: str, value: object, encoded: bytes) -> None:
    writer = Writer()

    getattr(writer, method)(value, flexible=True)

    assert writer.getvalue() == encoded


@pytest.mark.parametrize(("method", "value", "encoded"), FLEXIBLE_PAIRS)
def test_value_is_decoded_as_in_flexible_versions(method: str, value: object, encoded: bytes) -> None:
    check_decoder(lambda reader: getattr(reader, method)(flexible=True), encoded, value)


# The method, whether the version is flexible, a count, and its bytes.
ARRAY_LENGTHS: list[tuple[str, bool, int | None, bytes]] = [
    ("array_length", False, 2, b"\x00\x00\x00\x02"),
    ("nullable_array_length", False, 2, b"\x00\x00\x00\x02"),
    ("nullable_array_length", False, None, b"\xff\xff\xff\xff"),
    ("array_length", True, 2, b"\x03"),
    ("nullable_array_length", True, 2, b"\x03"),
    ("nullable_array_length", True, None, b"\x00"),
]


@pytest.mark.parametrize(("method", "flexible", "count", "encoded"), ARRAY_LENGTHS)
def test_array_length_is_written_and_read(method: str, flexible: bool, count: int | None, encoded: bytes) -> None:
    writer = Writer()
    getattr(writer, method)(count, flexible)
    elements = bytes(2 * (count or 0))

    assert writer.getvalue() == encoded
    assert getattr(Reader(encoded + elements), method)(2, flexible) == count


@pytest.mark.parametrize(
    ("method", "flexible", "count", "encoded"), [row for row in ARRAY_LENGTHS if row[2] is not None]
)
def test_array_length_is_rejected_when_one_byte_is_missing(
    method: str, flexible: bool, count: int, encoded: bytes
) -> None:
    elements = bytes(2 * count - 1)

    with pytest.raises(FrameError, match=r"2 elements of at least 2 bytes.*3 bytes left"):
        getattr(Reader(encoded + elements), method)(2, flexible)


REFUSED: list[tuple[str, bytes]] = [
    ("string", b"\xff\xff"),
    ("string", b"\x80\x00"),
    ("string", b"\x7f\xff" + bytes(100)),
    ("string", b"\x00\x02\xc3\x28"),
    ("string", b"\x00\x03\xed\xa0\x80"),
    ("compact_string", b"\x00"),
    ("compact_string", b"\x03\xff\xfe"),
    ("compact_string", b"\x81\x80\x02" + bytes(32768)),
    ("compact_string", b"\xff\xff\xff\xff\x0f"),
    ("data", b"\xff\xff\xff\xff"),
    ("data", b"\x7f\xff\xff\xff"),
    ("nullable_data", b"\x7f\xff\xff\xff" + bytes(100)),
    ("unsigned_varint", b"\xff\xff\xff\xff\xff\x01"),
    ("unsigned_varint", b"\xff\xff\xff\xff\x10"),
    ("unsigned_varint", b"\x80" * 200),
    ("unsigned_varint", b"\x80" * 5 + b"\x00"),
    ("varint", b"\x80" * 200),
    ("tagged_field_count", b"\xff\xff\xff\xff\x0f"),
    ("tagged_field_end", b"\x05abcd"),
    ("skip_tagged_fields", b"\x01\x00\x05abcd"),
    ("skip_tagged_fields", b"\x02\x00\x00"),
]


REFUSED_IN_FLEXIBLE_VERSIONS: list[tuple[str, bytes]] = [
    ("string", b"\x00"),
    ("data", b"\x00"),
    ("data", b"\xff\xff\xff\xff\x07"),
    ("string_array", b"\x00"),
    ("string_array", b"\xff\xff\xff\xff\x07"),
    ("nullable_string_array", b"\x02\x00"),
]


@pytest.mark.parametrize(("method", "encoded"), REFUSED_IN_FLEXIBLE_VERSIONS)
def test_hostile_bytes_are_rejected_in_flexible_versions(method: str, encoded: bytes) -> None:
    with pytest.raises(FrameError):
        getattr(Reader(encoded), method)(flexible=True)


@pytest.mark.parametrize(("method", "encoded"), REFUSED)
def test_hostile_bytes_are_rejected(method: str, encoded: bytes) -> None:
    with pytest.raises(FrameError):
        getattr(Reader(encoded), method)()


NEGATIVE_AS_NULL: list[tuple[str, bytes]] = [
    ("nullable_string", b"\xff\xfe"),
    ("nullable_data", b"\x80\x00\x00\x00"),
]


@pytest.mark.parametrize(("method", "encoded"), NEGATIVE_AS_NULL)
def test_any_negative_length_is_null_as_in_kafka(method: str, encoded: bytes) -> None:
    assert getattr(Reader(encoded), method)() is None


def test_any_byte_but_zero_is_true_as_in_kafka() -> None:
    assert [Reader(bytes([byte])).boolean() for byte in (0, 1, 2, 255)] == [False, True, True, True]


TOO_LARGE: list[tuple[str, Any]] = [
    ("int8", 128),
    ("int16", -32769),
    ("int32", 2**31),
    ("int64", -(2**63) - 1),
    ("uint16", -1),
    ("unsigned_varint", -1),
    ("unsigned_varint", 2**32),
    ("varint", 2**31),
    ("varint", -(2**31) - 1),
    ("uuid", bytes(15)),
    ("string", "a" * 32768),
    ("compact_string", "a" * 32768),
    ("string", "\ud800"),
    ("array_length", 2**31),
]


@pytest.mark.parametrize(("method", "value"), TOO_LARGE)
def test_value_that_does_not_fit_is_rejected_and_nothing_is_written(method: str, value: object) -> None:
    writer = Writer()

    with pytest.raises(ValueError):
        getattr(writer, method)(value)

    assert writer.getvalue() == b""


def test_error_names_the_value_and_the_type() -> None:
    with pytest.raises(ValueError, match="2147483648 cannot be written as int32"):
        Writer().int32(2**31)


def test_null_in_a_version_without_null_is_rejected_by_name() -> None:
    with pytest.raises(ValueError, match=r"MetadataRequest\.topics is null"):
        required(None, "MetadataRequest.topics")


@pytest.mark.parametrize("flexible", [False, True])
@pytest.mark.parametrize("element", [INT16, INT32, INT64], ids=lambda element: str(element.format))
@given(values=st.lists(st.integers(-(2**15), 2**15 - 1), max_size=5))
def test_written_integer_arrays_are_read(element: Any, flexible: bool, values: list[int]) -> None:
    writer = Writer()

    writer.integer_array(element, values, flexible)

    check_decoder(lambda reader: reader.integer_array(element, flexible), writer.getvalue(), values)


@pytest.mark.parametrize("flexible", [False, True])
@given(values=st.none() | st.lists(st.integers(-(2**31), 2**31 - 1), max_size=5))
def test_written_nullable_integer_arrays_are_read(flexible: bool, values: list[int] | None) -> None:
    writer = Writer()

    writer.nullable_integer_array(INT32, values, flexible)

    check_decoder(lambda reader: reader.nullable_integer_array(INT32, flexible), writer.getvalue(), values)


STRUCTS = [ApiVersion(api_key=3, max_version=13), ApiVersion(api_key=18)]


@pytest.mark.parametrize(("flexible", "version"), [(False, 0), (True, 3)])
@pytest.mark.parametrize("values", [[], STRUCTS])
def test_written_struct_arrays_are_read(flexible: bool, version: int, values: list[ApiVersion]) -> None:
    writer = Writer()

    writer.struct_array(values, version, flexible)

    check_decoder(lambda reader: reader.struct_array(ApiVersion, version, 6, flexible), writer.getvalue(), values)


@pytest.mark.parametrize(("flexible", "version"), [(False, 0), (True, 3)])
@pytest.mark.parametrize("values", [None, [], STRUCTS])
def test_written_nullable_struct_arrays_are_read(flexible: bool, version: int, values: list[ApiVersion] | None) -> None:
    writer = Writer()

    writer.nullable_struct_array(values, version, flexible)

    check_decoder(
        lambda reader: reader.nullable_struct_array(ApiVersion, version, 6, flexible), writer.getvalue(), values
    )


@given(value=st.integers(-(2**31), 2**31 - 1))
def test_written_varints_are_read(value: int) -> None:
    writer = Writer()

    writer.varint(value)

    check_decoder(Reader.varint, writer.getvalue(), value)


@given(frame=st.binary(max_size=20), method=st.sampled_from(sorted({row[0] for row in PAIRS})))
def test_any_bytes_give_a_value_or_frame_error(frame: bytes, method: str) -> None:
    decode: Callable[[Reader], object] = getattr(Reader, method)

    decodes(decode, Reader(frame))


@pytest.mark.parametrize(("position", "end"), [(-1, None), (4, None), (3, 2)])
def test_reader_outside_of_its_buffer_is_rejected(position: int, end: int | None) -> None:
    with pytest.raises(FrameError):
        Reader(b"abc", position, end)


# A FetchRequest of version 15 without topics, up to its tagged fields, cluster id (0) and replica state (1): max wait,
# min and max bytes, isolation level, session id and epoch, topics, forgotten topics, rack.
FETCH_REQUEST = bytes(21) + b"\x01\x01\x01"


def test_known_tagged_field_is_read() -> None:
    message = FetchRequest.read(Reader(FETCH_REQUEST + b"\x01\x00\x02\x02c"), 15)

    assert message.cluster_id == "c"


@pytest.mark.parametrize("size", [1, 3])
def test_tagged_field_that_does_not_fill_its_size_is_rejected(size: int) -> None:
    with pytest.raises(FrameError, match="its size says"):
        FetchRequest.read(Reader(FETCH_REQUEST + b"\x01\x00" + bytes([size]) + b"\x02c\x00"), 15)


def test_tagged_field_of_another_version_is_rejected_as_in_kafka() -> None:
    with pytest.raises(FrameError, match=r"tag 1 .* does not exist in version 14"):
        FetchRequest.read(Reader(bytes(4) + FETCH_REQUEST + b"\x01\x01\x01a"), 14)
