"""Whole requests in any pieces over a socket: all are answered, each connection's in the order of its requests."""

import struct
from collections.abc import Iterator

import pytest

from fauxka.testing import Broker

from ..wire.frames import FETCH, METADATA, api_versions_request, correlation_id_of, framed, header
from ..wire.wire_connection import WireConnection

TOPIC = b"waits"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with Broker({"num.partitions": "1"}) as broker:
        with WireConnection(broker.bootstrap_servers) as connection:
            connection.send(metadata_request(1))
            connection.receive_frame()
        yield broker.bootstrap_servers


def metadata_request(correlation_id: int) -> bytes:
    """Metadata v4, which creates the topic."""
    topics = struct.pack(">ih", 1, len(TOPIC)) + TOPIC
    return framed(header(METADATA, 4, correlation_id) + topics + b"\x01")


def long_poll(correlation_id: int, max_wait_ms: int) -> bytes:
    """Fetch v4 from the end of an empty partition, for at least one byte."""
    settings = struct.pack(">iiiib", -1, max_wait_ms, 1, 1 << 20, 0)
    partition = struct.pack(">iiqi", 1, 0, 0, 1 << 20)
    topics = struct.pack(">ih", 1, len(TOPIC)) + TOPIC + partition
    return framed(header(FETCH, 4, correlation_id) + settings + topics)


def test_a_request_sent_byte_by_byte_is_answered(address: str) -> None:
    with WireConnection(address) as connection:
        for byte in metadata_request(3):
            connection.send(bytes([byte]))

        assert correlation_id_of(connection.receive_frame()) == 3


def test_two_requests_in_one_segment_are_both_answered_in_order(address: str) -> None:
    with WireConnection(address) as connection:
        connection.send(metadata_request(1) + api_versions_request(2))

        answers = [connection.receive_frame() for _ in range(2)]

        assert [correlation_id_of(answer) for answer in answers] == [1, 2]


def test_a_request_and_a_half_are_answered_once_and_then_again(address: str) -> None:
    second = metadata_request(2)
    with WireConnection(address) as connection:
        connection.send(api_versions_request(1) + second[:9])
        first_answer = connection.receive_frame()
        connection.send(second[9:])

        assert correlation_id_of(first_answer) == 1
        assert correlation_id_of(connection.receive_frame()) == 2


def test_pipelined_requests_are_answered_in_order_around_one_that_waits(address: str) -> None:
    requests = [api_versions_request(index) if index % 3 else metadata_request(index) for index in range(300)]
    requests[100] = long_poll(100, max_wait_ms=150)
    with WireConnection(address) as connection:
        connection.send(b"".join(requests))

        answers = [connection.receive_frame() for _ in requests]

        assert [correlation_id_of(answer) for answer in answers] == list(range(300))


def test_a_connection_that_waits_holds_up_no_other(address: str) -> None:
    with WireConnection(address) as waiting, WireConnection(address) as other:
        waiting.send(long_poll(1, max_wait_ms=60_000))
        other.send(api_versions_request(2))

        assert correlation_id_of(other.receive_frame()) == 2
