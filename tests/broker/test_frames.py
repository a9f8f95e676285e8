"""What comes over a socket and is no request: the connection closes, one line is logged, everybody else is served."""

import logging
import random
import struct
from collections.abc import Iterator

import pytest

from fauxka.broker.handlers import HANDLERS
from fauxka.protocol.api_keys import APIS
from fauxka.testing import Broker

from ..wire.frames import (
    API_VERSIONS,
    CREATE_TOPICS,
    METADATA,
    PRODUCE,
    api_versions_request,
    correlation_id_of,
    framed,
    header,
)
from ..wire.wire_connection import WireConnection, still_serves

REQUEST_BYTES_MAX = 1_000_000
UNSUPPORTED_VERSION = 35
# What other protocols say first, read as a size: hundreds of megabytes.
HTTP_REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
TLS_CLIENT_HELLO = bytes.fromhex("16030100c8010000c40303") + bytes(100)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    config = {"socket.request.max.bytes": str(REQUEST_BYTES_MAX), "num.partitions": "1"}
    with Broker(config) as broker:
        yield broker.bootstrap_servers


def lines_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What was logged from warnings on; a traceback is a failure of the broker whatever came before it."""
    records = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [record.getMessage() for record in records if record.exc_info] == []
    return [record.getMessage() for record in records]


def check_closed_with_one_line(address: str, sent: bytes, caplog: pytest.LogCaptureFixture) -> None:
    """The broker itself closes, without an answer; our end stays open, so that it cannot be the reason."""
    caplog.clear()
    with WireConnection(address) as connection:
        connection.send_what_is_taken(sent)
        answer = connection.receive_until_closed()

    assert answer == b""
    assert len(lines_of(caplog)) == 1
    assert still_serves(address)


@pytest.mark.parametrize("size", [-1, -(2**31), REQUEST_BYTES_MAX + 1, 2**31 - 1])
def test_four_size_bytes_that_are_not_accepted_close_before_anything_follows(
    address: str, size: int, caplog: pytest.LogCaptureFixture
) -> None:
    check_closed_with_one_line(address, struct.pack(">i", size), caplog)

    assert str(size) in caplog.text


@pytest.mark.parametrize("first_words", [HTTP_REQUEST, TLS_CLIENT_HELLO], ids=["HTTP", "TLS"])
def test_another_protocol_is_closed(address: str, first_words: bytes, caplog: pytest.LogCaptureFixture) -> None:
    check_closed_with_one_line(address, first_words, caplog)


@pytest.mark.parametrize("api_key", [-1, 4, 5, 6, 7, 999, 32767])
def test_an_unknown_api_key_closes(address: str, api_key: int, caplog: pytest.LogCaptureFixture) -> None:
    check_closed_with_one_line(address, framed(header(api_key, 0, 1)), caplog)


@pytest.mark.parametrize("version", [-1, 0, 1, 2, 14, 32767])
def test_a_produce_version_that_is_not_served_closes(
    address: str, version: int, caplog: pytest.LogCaptureFixture
) -> None:
    check_closed_with_one_line(address, framed(header(PRODUCE, version, 1) + bytes(12)), caplog)


@pytest.mark.parametrize("version", [-1, 6, 32767])
def test_an_unsupported_version_of_api_versions_is_answered_in_version_0(address: str, version: int) -> None:
    with WireConnection(address) as connection:
        connection.send(framed(header(API_VERSIONS, version, 5, is_flexible=version > 0) + b"what a newer client says"))

        answer = connection.receive_frame()
        connection.send(api_versions_request(6))

        correlation_id, error_code, count, api_key, first, last = struct.unpack(">ihihhh", answer)
        assert (correlation_id, error_code, count) == (5, UNSUPPORTED_VERSION, 1)
        assert (api_key, first, last) == (API_VERSIONS, 0, 5)
        assert correlation_id_of(connection.receive_frame()) == 6


def test_a_frame_too_short_for_a_header_closes(address: str, caplog: pytest.LogCaptureFixture) -> None:
    for size in range(10):
        check_closed_with_one_line(address, framed(header(API_VERSIONS, 0, 1)[:size]), caplog)


# Whole requests: Metadata v12 of one topic, CreateTopics v7 of one topic, Produce v9 of no topic.
METADATA_REQUEST = header(METADATA, 12, 1, is_flexible=True) + b"\x02" + bytes(16) + b"\x02t" + b"\0" + b"\0\0" + b"\0"
CREATE_TOPICS_REQUEST = (
    header(CREATE_TOPICS, 7, 1, is_flexible=True)
    + b"\x02\x06topic" + struct.pack(">ih", 1, 1) + b"\x01\x01\0"
    + struct.pack(">i?", 1000, True) + b"\0"
)  # fmt: skip
PRODUCE_REQUEST = header(PRODUCE, 9, 1, is_flexible=True) + b"\0" + struct.pack(">hi", -1, 1000) + b"\x01" + b"\0"


@pytest.mark.parametrize("whole", [METADATA_REQUEST, CREATE_TOPICS_REQUEST, PRODUCE_REQUEST])
def test_a_whole_request_is_answered(address: str, whole: bytes) -> None:
    with WireConnection(address) as connection:
        connection.send(framed(whole))

        assert correlation_id_of(connection.receive_frame()) == 1


@pytest.mark.parametrize("whole", [METADATA_REQUEST, CREATE_TOPICS_REQUEST, PRODUCE_REQUEST])
def test_a_frame_that_ends_within_its_request_closes(
    address: str, whole: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    for size in range(len(whole)):
        check_closed_with_one_line(address, framed(whole[:size]), caplog)


def test_a_client_that_disconnects_within_a_frame_is_removed(address: str, caplog: pytest.LogCaptureFixture) -> None:
    whole = framed(METADATA_REQUEST)
    for size in range(len(whole)):
        with WireConnection(address) as connection:
            connection.send(whole[:size])
            connection.end_sending()

            assert connection.receive_until_closed() == b""

    assert lines_of(caplog) == []
    assert still_serves(address)


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes_close_the_connection(address: str, seed: int, caplog: pytest.LogCaptureFixture) -> None:
    chance = random.Random(seed)
    for _ in range(10):
        caplog.clear()
        with WireConnection(address) as connection:
            connection.send_what_is_taken(chance.randbytes(chance.randrange(4, 5000)))
            connection.end_sending()

            assert connection.receive_until_closed() == b""

        assert len(lines_of(caplog)) <= 1
    assert still_serves(address)


@pytest.mark.parametrize("api_key", sorted(HANDLERS))
def test_random_bodies_behind_a_right_header_are_answered_or_close(
    address: str, api_key: int, caplog: pytest.LogCaptureFixture
) -> None:
    chance = random.Random(api_key)
    api = APIS[api_key]
    for version in api.versions.supported:
        for length in (0, 1, 7, 40, 3000):
            request = header(
                api_key, version, 1, is_flexible=version >= api.versions.flexible_since
            ) + chance.randbytes(length)
            with WireConnection(address) as connection:
                connection.send(framed(request))
                connection.end_sending()
                answer = connection.receive_until_closed()

            assert answer[4:8] in (b"", struct.pack(">i", 1))
    # A request that is decoded in a thread may be refused after its client has gone.
    connections = [line.partition(" of ")[0] for line in lines_of(caplog)]
    assert len(connections) == len(set(connections)), "a connection has one line"
    assert still_serves(address)
