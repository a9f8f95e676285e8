"""Checks for all decoders: the whole value, every prefix of it, and bytes after it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from fauxka.protocol.frames import FrameError
from fauxka.protocol.primitives import Reader

T = TypeVar("T")

TRAILING = b"\x00\xff\x7f\x80"


def check_decoder(decode: Callable[[Reader], T], encoded: bytes, expected: T) -> None:
    """Check that encoded decodes to expected, that no prefix of it decodes, and that bytes after it are not read."""
    whole = Reader(encoded)
    assert decode(whole) == expected
    assert whole.remaining == 0

    assert [size for size in range(len(encoded)) if decodes(decode, Reader(encoded[:size]))] == []

    with_more = Reader(encoded + TRAILING)
    assert decode(with_more) == expected
    assert with_more.remaining == len(TRAILING)

    # In the middle of a memoryview, with an end before the end of the buffer.
    inside = Reader(memoryview(bytearray(TRAILING + encoded + TRAILING)), len(TRAILING), len(TRAILING) + len(encoded))
    assert decode(inside) == expected
    assert inside.remaining == 0


def decodes(decode: Callable[[Reader], T], reader: Reader) -> bool:
    """Return whether the bytes decode. Any exception but FrameError fails the test."""
    try:
        decode(reader)
    except FrameError:
        return False
    return True
