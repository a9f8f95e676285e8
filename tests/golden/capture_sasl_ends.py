"""How connections end whose clients do not authenticate: at once, after the delay of a failure, or when they are idle.

Needs a broker with CONFIG. All cases run at the same time. "bytes" counts what arrived after the last frame.
"""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TextIO

from ..wire.frames import framed, header
from ..wire.wire_connection import WireConnection
from .sasl_brokers import CONFIG as SASL_CONFIG
from .sasl_client import Addresses, plain

# Far apart, so that a busy machine does not make one of the other.
DELAY_MS, IDLE_MS = 1500, 4000
AT_ONCE, DELAYED, IDLE = "AT_ONCE", "DELAYED", "IDLE"
CONFIG = {
    **SASL_CONFIG,
    "connections.max.idle.ms": str(IDLE_MS),
    "connection.failed.authentication.delay.ms": str(DELAY_MS),
}
# A timer may fire a tick early.
SLACK_MS = 50
# sasl.server.max.receive.size by default.
RECEIVE_BYTES_MAX = 512 * 1024


def request(api_key: int, version: int, body: bytes = b"") -> bytes:
    """Return a request with a header of version 1 and a null client id."""
    return framed(header(api_key, version, 1) + body)


def flexible_request(api_key: int, version: int, body: bytes) -> bytes:
    """Return a request with a header of version 2 and a null client id. body: with its tagged fields."""
    return request(api_key, version, b"\0" + body)


def size(count: int) -> bytes:
    """Return the size of a frame, without its content."""
    return struct.pack(">i", count)


def handshake(mechanism: bytes, version: int = 1) -> bytes:
    """Return a SaslHandshake."""
    return request(17, version, struct.pack(">h", len(mechanism)) + mechanism)


def authenticate(content: bytes) -> bytes:
    """Return a SaslAuthenticate."""
    return request(36, 1, struct.pack(">i", len(content)) + content)


VERSIONS, METADATA = request(18, 0), request(3, 0, bytes(4))
PLAIN, BARE_PLAIN, BARE_SCRAM = handshake(b"PLAIN"), handshake(b"PLAIN", 0), handshake(b"SCRAM-SHA-256", 0)
# Requests of brokers and controllers.
NOT_OF_CLIENTS: Mapping[str, bytes] = {
    "Vote": flexible_request(52, 0, b"\0\1\0"),
    "BrokerHeartbeat": flexible_request(63, 0, bytes(4 + 8 + 8 + 1 + 1 + 1)),
    "GetTelemetrySubscriptions": flexible_request(71, 0, bytes(16 + 1)),
    "AddRaftVoter": flexible_request(80, 0, b"\0" + bytes(4 + 4 + 16) + b"\1\0"),
    "UpdateRaftVoter": flexible_request(82, 0, b"\0" + bytes(4 + 4 + 16) + b"\1" + bytes(2 + 2 + 1) + b"\0"),
    "ReadShareGroupState": flexible_request(84, 0, b"\1\1\0"),
    "StreamsGroupDescribe": flexible_request(89, 0, b"\1\0\0"),
}
# All frames but the last one have a response.
CASES: Mapping[str, Sequence[bytes]] = {
    "nothing": [b""],
    "handshake, and nothing": [PLAIN, b""],
    "authenticated, and nothing": [PLAIN, authenticate(plain()), b""],
    "half a frame": [PLAIN[:6]],
    "the largest size": [size(RECEIVE_BYTES_MAX)],
    "a larger size after the authentication": [PLAIN, authenticate(plain()), size(RECEIVE_BYTES_MAX + 1)],
    "Metadata": [METADATA],
    "Metadata after ApiVersions": [VERSIONS, METADATA],
    "ApiVersions twice": [VERSIONS, VERSIONS],
    "unknown API": [request(999, 0)],
    "unknown version of SaslHandshake": [request(17, 9, b"\0\5PLAIN")],
    "SaslHandshake that does not decode": [request(17, 1, b"\0\xffPLAIN")],
    "SaslHandshake of an unknown mechanism": [handshake(b"X")],
    "SaslAuthenticate without SaslHandshake": [authenticate(plain())],
    "Metadata after SaslHandshake": [PLAIN, METADATA],
    "Produce without a response after SaslHandshake": [PLAIN, request(0, 3, b"\xff\xff" + bytes(10))],
    "unknown version after SaslHandshake": [PLAIN, request(3, 99)],
    "unknown API after SaslHandshake": [PLAIN, request(999, 0)],
    **{f"{name} after SaslHandshake": [PLAIN, sent] for name, sent in NOT_OF_CLIENTS.items()},
    "AddRaftVoter that does not decode, after SaslHandshake": [PLAIN, flexible_request(80, 0, b"\xff\xff")],
    "unknown version of AddRaftVoter after SaslHandshake": [PLAIN, flexible_request(80, 9, bytes(27))],
    "SaslAuthenticate that does not decode": [PLAIN, request(36, 1, b"\0\0\xff\xff")],
    "wrong password": [PLAIN, authenticate(plain(password="wrong"))],
    "unknown user": [PLAIN, authenticate(plain("nobody"))],
    "wrong password without a header": [BARE_PLAIN, framed(plain(password="wrong"))],
    "token of PLAIN that does not parse, without a header": [BARE_PLAIN, framed(b"x")],
    "token of SCRAM that does not parse, without a header": [BARE_SCRAM, framed(b"x")],
    "unknown user of SCRAM, without a header": [BARE_SCRAM, framed(b"n,,n=nobody,r=nonce")],
    "foreign authorization id of SCRAM, without a header": [BARE_SCRAM, framed(b"n,a=bob,n=alice,r=nonce")],
    "empty token without a header": [BARE_PLAIN, size(0)],
    "request in place of a token without a header": [BARE_PLAIN, METADATA],
    "frame without a header": [framed(b"abc")],
    "empty frame": [size(0)],
    "negative size": [size(-1)],
    "size above the largest": [size(RECEIVE_BYTES_MAX + 1)],
    "HTTP": [b"GET / HTTP/1.1\r\n\r\n"],
    "size above the largest after SaslHandshake": [PLAIN, size(RECEIVE_BYTES_MAX + 1)],
    "size above the largest in place of a token without a header": [BARE_PLAIN, size(RECEIVE_BYTES_MAX + 1)],
}


def capture(addresses: Addresses, output: TextIO) -> None:
    """Write each case as a line."""
    with ThreadPoolExecutor(len(CASES)) as threads:
        ends = threads.map(partial(_end_of, addresses["SASL_PLAINTEXT"]), CASES.values())
        for case, end in zip(CASES, ends, strict=True):
            print(json.dumps({"case": case, **end}), file=output)


def _end_of(address: str, frames: Sequence[bytes]) -> dict[str, object]:
    started = time.monotonic()
    with WireConnection(address) as connection:
        for frame in frames[:-1]:
            started = time.monotonic()
            connection.send(frame)
            connection.receive_frame()
        if frames[-1]:
            # A silent client is idle from its last request on, however late it reads the response.
            started = time.monotonic()
        connection.send(frames[-1])
        rest = connection.receive_until_closed()
        elapsed_ms = (time.monotonic() - started) * 1000
    limits = ((IDLE_MS, IDLE), (DELAY_MS, DELAYED), (0, AT_ONCE))
    return {"end": next(end for ms, end in limits if elapsed_ms >= ms - SLACK_MS), "bytes": len(rest)}
