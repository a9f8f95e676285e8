"""The verdict over failovers: what is lost, by which leader and in which epoch, and what is not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.produce import PartitionProduceResponse
from fauxka.testing import Broker

from ..broker.blocking_client import BlockingClient, batch

TOPIC = "orders"
NODES = [1, 2, 3]
SESSION_MS, LAG_MS, RETRY_MS = 9_000, 46_000, 1_000


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker({"default.replication.factor": "3"}, nodes=3) as started:
        started.topics.create(TOPIC, partitions=1)
        started.move_leader(TOPIC, 0, 1)
        yield started


def produce(
    broker: Broker, node: int, value: bytes = b"v", *, acks: int = -1, producer: tuple[int, int] = (-1, -1)
) -> PartitionProduceResponse:
    """Send a record to a node. producer: its id and the sequence; without one by default."""
    producer_id, sequence = producer
    with BlockingClient(broker.bootstrap_servers.split(",")[node - 1]) as client:
        records = batch(value, producer_id=producer_id, sequence=sequence)
        return client.produce(TOPIC, records, acks=acks, timeout_ms=200)


def log_ends(broker: Broker) -> dict[int, int]:
    return {each.node: each.log_end_offset for each in broker.partitions(TOPIC)[0].replica_states}


def test_a_follower_whose_files_fail_fetches_again_later_and_the_leader_responds(broker: Broker) -> None:
    with broker.files.add(action="fail", operation="write", file_kind="log", node=2):
        failed = produce(broker, 1, acks=1)
    assert failed.error_code == ErrorCode.NONE
    assert log_ends(broker) == {1: 1, 2: 0, 3: 1}

    broker.clock.advance(RETRY_MS)

    assert log_ends(broker) == {1: 1, 2: 1, 3: 1}
    assert produce(broker, 1).error_code == ErrorCode.NONE
