"""Hostile bytes give a value or FrameError, within the memory that the size of the frame allows."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.protocol.frames import FrameError
from fauxka.protocol.messages.metadata import MetadataRequest, MetadataResponse
from fauxka.protocol.primitives import INT32, Reader, Writer

from ..each_case import each_case
from .decoder_checks import decodes
from .kio_entities import as_message, entities
from .message_catalog import MESSAGE_VERSIONS, MessageVersion
from .test_messages_against_kio import FEW
from .test_messages_cut_and_continued import FEWER

# Replacements for a length, a count or a varint: null, negative, huge, endless, not UTF-8.
HOSTILE = (
    b"\xff",
    b"\x80",
    b"\x7f\xff\xff\xff",
    b"\x80\x00\x00\x00",
    b"\xff\xff\xff\xff\x0f",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\x00\x00\x00\x00",
    b"\xed\xa0\x80",
)
MUTATIONS_PER_FRAME = 30

# The most memory for each byte of a frame. The smallest elements have 2 bytes, and become an object of about 60 bytes
# that may have two empty lists of the same size.
OBJECT_BYTES_PER_BYTE_MAX = 64
# The memory for any frame: the message itself, an exception and its traceback.
OBJECT_BYTES_BASE = 8 * 1024

# Bytes after a frame, for large counts. A zero is an empty string, array and set of tags.
PADDING = bytes(600)
# The largest possible counts, for elements of these sizes.
COUNTS = [len(PADDING) // element_bytes for element_bytes in (2, 3, 6, 12, 25)]


def encoded_count(count: int, *, flexible: bool) -> bytes:
    writer = Writer()
    writer.array_length(count, flexible)
    return writer.getvalue()


def mutations(encoded: bytes, random: Random) -> Iterator[bytes]:
    for _ in range(MUTATIONS_PER_FRAME):
        start = random.randrange(len(encoded) + 1)
        end = start + random.choice((0, 0, 1, 2, 4))
        inserted = random.choice((*HOSTILE, b"", random.randbytes(3)))
        yield encoded[:start] + inserted + encoded[end:]


def first_and_last_versions() -> list[MessageVersion]:
    by_name: dict[str, list[MessageVersion]] = {}
    for each in MESSAGE_VERSIONS:
        by_name.setdefault(each.name, []).append(each)
    return [version for versions in by_name.values() for version in dict.fromkeys((versions[0], versions[-1]))]


@pytest.mark.deep
@pytest.mark.slice
@each_case(MESSAGE_VERSIONS)
@FEWER
@given(data=st.data())
def test_changed_frame_gives_a_value_or_frame_error(message_version: MessageVersion, data: st.DataObject) -> None:
    entity = data.draw(entities(message_version.entity_class))
    encoded = message_version.encoded(as_message(entity, message_version.message_class))
    random = Random(data.draw(st.integers(0, 2**32)))

    for changed in mutations(encoded, random):
        decodes(message_version.read, Reader(changed))


@each_case(list(first_and_last_versions()))
@FEW
@given(frame=st.binary(max_size=300))
def test_random_bytes_give_a_value_or_frame_error(message_version: MessageVersion, frame: bytes) -> None:
    decodes(message_version.read, Reader(frame))


def frames_with_counts(encoded: bytes, counts: list[bytes]) -> Iterator[bytes]:
    for position in range(len(encoded)):
        for count in counts:
            yield encoded[:position] + count + encoded[position + len(count) :] + PADDING


def peak_bytes(message_version: MessageVersion, frame: bytes) -> int:
    """Return the peak of memory while the frame is decoded."""
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    decodes(message_version.read, Reader(frame))
    return tracemalloc.get_traced_memory()[1] - before


@pytest.fixture
def traced_memory() -> Iterator[None]:
    # A garbage collection during a measurement would free memory of other code.
    gc.disable()
    tracemalloc.start()
    yield
    tracemalloc.stop()
    gc.enable()


@pytest.mark.usefixtures("traced_memory")
@each_case(list(first_and_last_versions()))
def test_memory_is_bounded_by_the_frame_for_any_counts(message_version: MessageVersion) -> None:
    encoded = message_version.encoded(message_version.message_class())
    flexible: bool = message_version.entity_class.__flexible__
    counts = [encoded_count(count, flexible=flexible) for count in COUNTS]
    peak_bytes(message_version, encoded)

    beyond = [
        frame
        for frame in frames_with_counts(encoded, counts)
        if peak_bytes(message_version, frame) > OBJECT_BYTES_BASE + OBJECT_BYTES_PER_BYTE_MAX * len(frame)
    ]

    assert beyond == []


# Metadata responses begin with the throttle time (from version 3 on) and the count of brokers.
@pytest.mark.usefixtures("traced_memory")
@pytest.mark.parametrize(
    ("version", "frame"),
    [
        pytest.param(0, b"\x7f\xff\xff\xff" + PADDING, id="int32 2147483647"),
        pytest.param(0, b"\x80\x00\x00\x00" + PADDING, id="int32 -2147483648"),
        pytest.param(12, bytes(4) + b"\x80\x80\x80\x80\x08" + PADDING, id="varint of 2147483647 + 1"),
        pytest.param(12, bytes(4) + b"\xff\xff\xff\xff\x0f" + PADDING, id="varint of 4294967294 + 1"),
    ],
)
def test_hostile_count_is_rejected_before_memory_is_allocated(version: int, frame: bytes) -> None:
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()

    with pytest.raises(FrameError):
        MetadataResponse.read(Reader(frame), version)

    assert tracemalloc.get_traced_memory()[1] - before < OBJECT_BYTES_BASE


@pytest.mark.usefixtures("traced_memory")
def test_memory_is_proportional_to_a_large_frame() -> None:
    topic_count = 100_000
    frame = INT32.pack(topic_count) + bytes(2 * topic_count)

    tracemalloc.reset_peak()
    message = MetadataRequest.read(Reader(frame), 1)
    _, peak = tracemalloc.get_traced_memory()

    assert message.topics is not None
    assert len(message.topics) == topic_count
    assert peak < OBJECT_BYTES_BASE + OBJECT_BYTES_PER_BYTE_MAX * len(frame)
