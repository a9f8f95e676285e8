"""One check for every decoder: fed whole, byte by byte, and with bytes behind its value."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from fauxka.protocol.frames import FrameError
from fauxka.protocol.primitives import Reader

T = TypeVar("T")

TRAILING = b"\x00\xff\x7f\x80"


def check_decoder(decode: Callable[[Reader], T], encoded: bytes, expected: T) -> None:
    """Check that the bytes decode to expected, that no part of them does, and that what follows is left alone."""
    whole = Reader(encoded)
    assert decode(whole) == expected
    assert whole.remaining == 0

    assert [size for size in range(len(encoded)) if decodes(decode, Reader(encoded[:size]))] == []

    with_more = Reader(encoded + TRAILING)
    assert decode(with_more) == expected
    assert with_more.remaining == len(TRAILING)

    # In the middle of a buffer that is not bytes, behind an end that is not the buffer's.
    inside = Reader(memoryview(bytearray(TRAILING + encoded + TRAILING)), len(TRAILING), len(TRAILING) + len(encoded))
    assert decode(inside) == expected
    assert inside.remaining == 0


def decodes(decode: Callable[[Reader], T], reader: Reader) -> bool:
    """Return whether the bytes give a value; whatever is raised but FrameError fails the test."""
    try:
        decode(reader)
    except FrameError:
        return False
    return True
