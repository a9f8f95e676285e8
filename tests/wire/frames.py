"""Frames and request headers as bytes, for tests that change, cut and repeat them."""

from __future__ import annotations

import struct

PRODUCE, FETCH, METADATA, API_VERSIONS, CREATE_TOPICS = 0, 1, 3, 18, 19


def framed(body: bytes) -> bytes:
    """The body with its size in front."""
    return struct.pack(">i", len(body)) + body


def header(api_key: int, version: int, correlation_id: int, *, is_flexible: bool = False) -> bytes:
    """A request header without a client id."""
    return struct.pack(">hhih", api_key, version, correlation_id, -1) + (b"\0" if is_flexible else b"")


def api_versions_request(correlation_id: int = 1) -> bytes:
    """The shortest request there is, framed."""
    return framed(header(API_VERSIONS, 0, correlation_id))


def correlation_id_of(response: bytes) -> int:
    return int.from_bytes(response[:4], "big", signed=True)
