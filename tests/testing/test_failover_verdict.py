"""The verdict over failovers: what is lost, by which leader and in which epoch, and what is not."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from fauxka.client.errors import ConnectionFailed
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.produce import PartitionProduceResponse

from ..broker.blocking_client import BlockingClient, batch
from .transports import Broker

TOPIC = "orders"
NODES = [1, 2, 3]
SESSION_MS, LAG_MS, RETRY_MS = 9_000, 46_000, 1_000
SECONDS_MAX = 30


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker({"default.replication.factor": "3"}, nodes=3) as started:
        create(started)
        yield started


def create(broker: Broker) -> None:
    """Create the topic with a partition that node 1 leads, and then node 2."""
    broker.call(lambda: broker.cluster.controller.create_topic(TOPIC, 1, assignments=[NODES]))


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


def behind(broker: Broker, node: int) -> None:
    """Have a follower of node 1 miss a record, and wait until it is out of the ISR."""
    broker.pause_replication(node)
    assert produce(broker, 1, acks=1).error_code == ErrorCode.NONE
    broker.clock.advance(LAG_MS)
    assert node not in broker.partitions(TOPIC)[0].isr


def kill(broker: Broker, node: int) -> None:
    broker.stop_node(node, controlled=False, noticed=True)


def cut_off(broker: Broker, node: int) -> None:
    """Cut a node off from the controller and the other nodes, and wait for the end of its session."""
    broker.isolate(node, ["controller", "nodes"])
    broker.clock.advance(SESSION_MS)


def leader(broker: Broker) -> tuple[int, int]:
    (partition,) = broker.partitions(TOPIC)
    return partition.leader, partition.leader_epoch


def losses(broker: Broker) -> list[tuple[list[int], str]]:
    found = broker.verdict(TOPIC)
    lost = [each for each in found.findings if each.kind == "acknowledged_lost"]
    assert found.batches.acknowledged_lost == sum(each.batches for each in lost)
    return [(each.offsets, each.why) for each in lost]


def unacknowledged(broker: Broker) -> list[list[int]]:
    return [each.offsets for each in broker.verdict(TOPIC).findings if each.kind == "stored_unacknowledged"]


def appended(broker: Broker) -> int:
    """Return the batches that the verdict counts, which must be those in the log of the leader."""
    found = broker.verdict(TOPIC)
    assert found.records.in_log == found.batches.appended_once
    return found.batches.appended_once


def test_a_clean_failover_loses_nothing(broker: Broker) -> None:
    produce(broker, 1, acks=1)
    produce(broker, 1)
    kill(broker, 1)
    produce(broker, 2)
    broker.start_node(1)

    assert leader(broker)[0] == 2
    assert appended(broker) == 3
    broker.verdict(TOPIC).assert_exactly_once()


def test_an_unclean_failover_loses_what_the_new_leader_does_not_have(broker: Broker) -> None:
    produce(broker, 1)
    behind(broker, 3)
    assert produce(broker, 1).error_code == ErrorCode.NONE

    broker.move_leader(TOPIC, 0, 3, unclean=True)

    assert losses(broker) == [
        (
            [1, 2],
            "2 batches with 2 records were acknowledged at offsets 1..2 in epoch 0 by node 1, and the log of node 3, "
            "which became leader in epoch 1 without being in sync, ended at 1",
        )
    ]
    assert appended(broker) == 1
    with pytest.raises(AssertionError, match="2 acknowledged batches lost"):
        broker.verdict(TOPIC).assert_nothing_lost()


@pytest.mark.parametrize("producer_id", [-1, 5])
def test_what_one_election_loses_is_one_finding_with_the_requests_of_its_epoch(
    broker: Broker, producer_id: int
) -> None:
    for node in (2, 3):
        broker.pause_replication(node)
    lost = [produce(broker, 1, acks=1, producer=(producer_id, sequence)) for sequence in range(20)]
    sent = [each.id for each in broker.journal.entries(api="Produce")]
    kill(broker, 1)
    broker.resume_replication(2)

    for _ in range(20):
        # At the same offsets, in the next epoch.
        produce(broker, 2, acks=1)

    (finding,) = broker.verdict(TOPIC).findings
    assert (finding.offsets, finding.batches, finding.records) == ([0, lost[-1].base_offset], 20, 20)
    assert (finding.leader_epoch, finding.requests) == (0, sent)
    assert (finding.producer_id, finding.base_sequence) == (producer_id, 0 if producer_id >= 0 else -1)


def test_each_election_has_its_own_finding(broker: Broker) -> None:
    sent: list[int] = []
    for node, next_node in ((1, 2), (2, 3)):
        broker.pause_replication(next_node)
        produce(broker, node, acks=1, producer=(5, 0))
        sent.append(broker.journal.entries(api="Produce")[-1].id)
        broker.move_leader(TOPIC, 0, next_node, unclean=True)
        broker.resume_replication(next_node)

    found = broker.verdict(TOPIC).findings

    assert [(each.offsets, each.leader_epoch, each.requests) for each in found] == [
        ([0, 0], 0, [sent[0]]),
        ([0, 0], 1, [sent[1]]),
    ]


def test_a_replica_in_sync_that_lags_loses_what_acks_one_acknowledged(broker: Broker) -> None:
    produce(broker, 1)
    broker.pause_replication(2)
    broker.pause_replication(3)
    assert produce(broker, 1, acks=1).error_code == ErrorCode.NONE
    assert produce(broker, 1, acks=-1).error_code == ErrorCode.REQUEST_TIMED_OUT
    assert unacknowledged(broker) == [[2, 2]]

    kill(broker, 1)

    assert losses(broker) == [
        (
            [1, 1],
            "it was acknowledged at offsets 1..1 in epoch 0 by node 1 (acks=1), "
            "and the log of node 2, which became leader in epoch 1, ended at 1",
        )
    ]
    assert (appended(broker), unacknowledged(broker)) == (1, [])
    (entry,) = broker.journal.entries(api="Produce", since=broker.journal.last_id - 1)
    assert (entry.node, entry.batches[0].decision, entry.error) == (1, "appended", "REQUEST_TIMED_OUT")


def test_a_write_whose_leader_is_replaced_while_it_waits_is_unacknowledged(broker: Broker) -> None:
    broker.pause_replication(2)
    broker.pause_replication(3)
    with BlockingClient(broker.bootstrap_servers.split(",")[0]) as client, ThreadPoolExecutor() as pool:
        waiting = pool.submit(client.produce, TOPIC, batch(b"v"), acks=-1, timeout_ms=30_000)
        while not log_ends(broker)[1]:
            assert not waiting.done()
        broker.move_leader(TOPIC, 0, 2)
        assert waiting.result(SECONDS_MAX).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER

    assert (losses(broker), unacknowledged(broker), appended(broker)) == ([], [], 0)


def test_a_leader_that_is_cut_off_loses_what_acks_one_acknowledged(broker: Broker) -> None:
    produce(broker, 1)
    broker.isolate(1, ["controller", "nodes"])
    produce(broker, 1, acks=1)
    broker.clock.advance(SESSION_MS)
    assert leader(broker) == (2, 1)
    assert produce(broker, 1, acks=1).base_offset == 2
    assert produce(broker, 1, acks=-1).error_code == ErrorCode.REQUEST_TIMED_OUT
    assert [produce(broker, 2).base_offset for _ in range(3)] == [1, 2, 3]
    before = losses(broker), appended(broker), unacknowledged(broker)

    broker.rejoin(1)

    assert before == (losses(broker), appended(broker), unacknowledged(broker))
    by = "in epoch 0 by node 1 (acks=1)"
    assert losses(broker) == [
        (
            [1, 1],
            f"it was acknowledged at offsets 1..1 {by}, "
            "and the log of node 2, which became leader in epoch 1, ended at 1",
        ),
        (
            [2, 2],
            f"it was acknowledged at offsets 2..2 {by}, "
            "which was cut off and had been replaced by node 2, which became leader in epoch 1",
        ),
    ]
    assert (appended(broker), unacknowledged(broker)) == (4, [])
    assert log_ends(broker) == {1: 4, 2: 4, 3: 4}


def test_a_leader_that_is_cut_off_and_dies_has_lost_the_same(broker: Broker) -> None:
    cut_off(broker, 1)
    produce(broker, 1, acks=1)
    produce(broker, 2)
    kill(broker, 1)
    broker.start_node(1)

    assert [offsets for offsets, _ in losses(broker)] == [[0, 0]]
    assert appended(broker) == 1


def test_a_leader_that_was_cut_off_and_leads_again_has_its_batches(broker: Broker) -> None:
    produce(broker, 1)
    cut_off(broker, 1)
    produce(broker, 1, acks=1)
    produce(broker, 1, acks=-1)
    produce(broker, 2)
    kill(broker, 2)
    kill(broker, 3)
    broker.rejoin(1)
    assert leader(broker) == (-1, 3)

    broker.move_leader(TOPIC, 0, 1, unclean=True)

    assert losses(broker) == [
        (
            [1, 1],
            "it was acknowledged at offsets 1..1 in epoch 1 by node 2, and node 1, "
            "which became leader in epoch 4 without being in sync, has other records from offset 1 on",
        )
    ]
    assert (appended(broker), unacknowledged(broker)) == (3, [[2, 2]])


def test_a_leader_that_returns_with_what_was_lost_has_it_again(broker: Broker) -> None:
    behind(broker, 2)
    behind(broker, 3)
    kill(broker, 1)
    broker.move_leader(TOPIC, 0, 2, unclean=True)
    assert [offsets for offsets, _ in losses(broker)] == [[0, 1]]
    kill(broker, 2)
    kill(broker, 3)
    broker.start_node(1)

    broker.move_leader(TOPIC, 0, 1, unclean=True)

    assert (losses(broker), appended(broker)) == ([], 2)


def test_nodes_that_are_killed_in_turn_lose_what_none_of_the_others_has(broker: Broker) -> None:
    for node in NODES:
        followers = [each for each in NODES if each != node]
        broker.move_leader(TOPIC, 0, node)
        produce(broker, node)
        for each in followers:
            broker.pause_replication(each)
        produce(broker, node, acks=1)
        kill(broker, node)
        for each in followers:
            broker.resume_replication(each)
        produce(broker, leader(broker)[0])
        broker.start_node(node)

    assert [offsets for offsets, _ in losses(broker)] == [[1, 1], [3, 3], [5, 5]]
    assert appended(broker) == 6
    assert log_ends(broker) == {1: 6, 2: 6, 3: 6}


def test_a_batch_that_an_idempotent_producer_sends_again_to_the_new_leader_counts_once(broker: Broker) -> None:
    produce(broker, 1, producer=(5, 0))
    broker.faults.lost_ack(topic=TOPIC)
    with pytest.raises(ConnectionFailed):
        produce(broker, 1, producer=(5, 1))
    assert unacknowledged(broker) == [[1, 1]]
    kill(broker, 1)
    assert unacknowledged(broker) == [[1, 1]]

    assert produce(broker, 2, producer=(5, 1)).base_offset == 1

    assert (appended(broker), unacknowledged(broker)) == (2, [])
    assert broker.verdict(TOPIC).batches.duplicates_recognised == 1
    broker.verdict(TOPIC).assert_exactly_once()


def test_a_batch_that_the_new_leader_does_not_have_counts_when_it_is_sent_again(broker: Broker) -> None:
    broker.pause_replication(2)
    broker.pause_replication(3)
    timed_out = produce(broker, 1, acks=-1, producer=(5, 0))
    assert timed_out.error_code == ErrorCode.REQUEST_TIMED_OUT
    kill(broker, 1)

    assert produce(broker, 2, acks=1, producer=(5, 0)).base_offset == 0

    assert (losses(broker), appended(broker), unacknowledged(broker)) == ([], 1, [])


def test_a_duplicate_acknowledges_the_batch_of_a_leader_that_is_cut_off(broker: Broker) -> None:
    cut_off(broker, 1)
    produce(broker, 1, acks=-1, producer=(5, 0))
    assert losses(broker) == []

    assert produce(broker, 1, acks=1, producer=(5, 0)).error_code == ErrorCode.NONE

    assert [offsets for offsets, _ in losses(broker)] == [[0, 0]]
    assert (appended(broker), unacknowledged(broker)) == (0, [])


def test_records_that_were_deleted_before_a_failover_are_not_lost(broker: Broker) -> None:
    produce(broker, 1)
    produce(broker, 1)
    broker.call(lambda: broker.cluster.node.replicas.partition_of(TOPIC, 0).delete_records_before(2))

    kill(broker, 1)

    assert (losses(broker), broker.verdict(TOPIC).batches.appended_once) == ([], 2)


def test_a_topic_that_is_created_again_has_no_earlier_leaders(broker: Broker) -> None:
    produce(broker, 1, acks=1)
    broker.topics.delete(TOPIC)
    create(broker)
    produce(broker, 1, acks=1)

    kill(broker, 1)

    assert (losses(broker), appended(broker)) == ([], 1)


def test_a_batch_that_was_sent_to_two_leaders_is_not_lost_while_one_of_them_leads(broker: Broker) -> None:
    cut_off(broker, 1)
    produce(broker, 1, acks=-1, producer=(5, 0))
    produce(broker, 2, producer=(5, 0))
    assert produce(broker, 1, acks=1, producer=(5, 0)).error_code == ErrorCode.NONE

    assert (losses(broker), appended(broker), unacknowledged(broker)) == ([], 1, [])


def test_a_node_that_lost_its_files_and_leads_again_is_named_for_both_epochs(broker: Broker) -> None:
    behind(broker, 2)
    behind(broker, 3)
    with broker.files.add(action="lose", operation="write", file_kind="log", node=1):
        assert produce(broker, 1, acks=1).error_code == ErrorCode.NONE
    kill(broker, 1)
    broker.start_node(1)

    assert losses(broker) == [
        (
            [2, 2],
            "it was acknowledged at offsets 2..2 in epoch 0 by node 1, "
            "and the log of node 1, which became leader in epoch 2, ended at 2",
        )
    ]
    assert appended(broker) == 2


def test_a_write_that_too_few_replicas_refuse_is_refused_in_the_journal() -> None:
    with Broker({"default.replication.factor": "3", "min.insync.replicas": "3"}, nodes=3) as broker:
        create(broker)
        kill(broker, 3)

        assert produce(broker, 1).error_code == ErrorCode.NOT_ENOUGH_REPLICAS

        (entry,) = broker.journal.entries(api="Produce")
        assert (entry.batches[0].decision, entry.error) == ("refused", "NOT_ENOUGH_REPLICAS")
        assert entry.batches[0].why == "in-sync replicas [1, 2] of orders-0, min.insync.replicas is 3"
        assert (losses(broker), broker.verdict(TOPIC).batches.refused) == ([], 1)


def test_failovers_are_followed_after_a_restored_snapshot(broker: Broker) -> None:
    produce(broker, 1)
    snapshot = broker.snapshot()
    broker.move_leader(TOPIC, 0, 2)
    produce(broker, 2)
    broker.restore(snapshot)
    (node, epoch) = leader(broker)
    for follower in {1, 2, 3} - {node}:
        broker.pause_replication(follower)
    assert produce(broker, node, acks=1).base_offset == 1

    kill(broker, node)

    ((offsets, why),) = losses(broker)
    assert offsets == [1, 1]
    assert f"in epoch {epoch} by node {node} (acks=1)" in why


def test_a_reset_of_the_journal_keeps_the_leaders(broker: Broker) -> None:
    cut_off(broker, 1)
    produce(broker, 1, acks=1)
    broker.journal.clear()
    assert losses(broker) == []

    produce(broker, 1, acks=1)

    assert [offsets for offsets, _ in losses(broker)] == [[1, 1]]
