"""A Produce that is validated in a thread has the response, the journal entry and the verdict of any other."""

from __future__ import annotations

import time
from collections.abc import Iterator
from struct import pack, unpack_from

import pytest

from fauxka.protocol.batches.compression import compress
from fauxka.protocol.batches.record_batch import Compression
from fauxka.protocol.frames import FRAME_SIZE_BYTES

from ..broker.long_requests import ask
from ..protocol.batch_bytes import batch, record
from ..wire.frames import METADATA, PRODUCE, framed, header
from ..wire.wire_connection import WireConnection
from .transports import Broker

SECONDS_MAX = 20.0
TOPIC = b"long"
# More than is decompressed at once.
VALUE = bytes(8 * 1024 * 1024)


def long_batch(sequence: int) -> bytes:
    payload = compress(Compression.ZSTD, record(VALUE))
    return batch(payload, attributes=Compression.ZSTD, producer_id=7, producer_epoch=0, base_sequence=sequence)


def produce(records: bytes, *, acks: int = -1) -> bytes:
    topic = pack(">h", len(TOPIC)) + TOPIC + pack(">iii", 1, 0, len(records)) + records
    return framed(header(PRODUCE, 7, 1) + pack(">hhii", -1, acks, 1000, 1) + topic)


def error_of(response: bytes | None) -> int:
    """Return the error code of the one partition."""
    assert response is not None
    error: int = unpack_from(">h", response, 4 + 4 + 2 + len(TOPIC) + 4 + 4)[0]
    return error


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker(config={"num.partitions": "1"}) as running:
        with WireConnection(running.bootstrap_servers) as client:
            client.send(framed(header(METADATA, 4, 1) + pack(">ih", 1, len(TOPIC)) + TOPIC + b"\1"))
            client.receive_frame()
        yield running


def wait_for_batches(broker: Broker, count: int) -> list[str]:
    """Return the decisions on the batches when there are so many."""
    deadline = time.monotonic() + SECONDS_MAX
    while True:
        entries = broker.journal.entries(api="Produce")
        decisions = [each.decision for entry in entries for each in entry.batches]
        if len(decisions) >= count:
            return decisions
        assert time.monotonic() < deadline, f"{decisions} of {count}"
        time.sleep(0.01)


def test_long_batch_is_appended_refused_and_found_again(broker: Broker) -> None:
    address = broker.bootstrap_servers

    errors = [error_of(ask(address, produce(long_batch(sequence)))) for sequence in (0, 0, 5)]

    # Appended, a duplicate, out of order.
    assert errors == [0, 0, 45]
    assert wait_for_batches(broker, 3) == ["appended", "duplicate", "refused"]
    sizes = {entry.size for entry in broker.journal.entries(api="Produce")}
    assert sizes == {len(produce(long_batch(0))) - FRAME_SIZE_BYTES}


def test_long_batch_without_a_response_is_appended_and_the_connection_goes_on(broker: Broker) -> None:
    with WireConnection(broker.bootstrap_servers) as client:
        client.send(produce(long_batch(0), acks=0) + produce(long_batch(1)))

        assert error_of(client.receive_frame()) == 0
    assert wait_for_batches(broker, 2) == ["appended", "appended"]


def test_long_batch_of_a_client_that_leaves_is_appended_and_unacknowledged(broker: Broker) -> None:
    with WireConnection(broker.bootstrap_servers) as client:
        client.send(produce(long_batch(0)))
        client.end_sending()
        client.receive_until_closed()

    assert wait_for_batches(broker, 1) == ["appended"]
    (entry,) = broker.journal.entries(api="Produce")
    assert not entry.answered
    assert [finding.kind for finding in broker.verdict(TOPIC.decode()).findings] == ["stored_unacknowledged"]


def test_lost_response_to_a_long_batch_is_in_the_journal(broker: Broker) -> None:
    with broker.faults.lost_ack(topic=TOPIC.decode()) as lost:
        assert ask(broker.bootstrap_servers, produce(long_batch(0))) is None
        assert error_of(ask(broker.bootstrap_servers, produce(long_batch(0)))) == 0

    assert lost.hits == 1

    assert wait_for_batches(broker, 2) == ["appended", "duplicate"]
