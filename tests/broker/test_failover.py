"""Leaders that move between three nodes: by death, return, isolation and pause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pytest

from fauxka.broker.isolation import Isolation
from fauxka.broker.metadata.metadata_image import NO_LEADER
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.produce import PartitionProduceResponse

from .blocking_client import batch
from .running_cluster import RunningCluster

SESSION_MS, LAG_MS = 9_000, 30_000
NODES = [1, 2, 3]


@pytest.fixture
def cluster() -> Iterator[RunningCluster]:
    with RunningCluster() as running:
        yield running


def create(
    cluster: RunningCluster, replicas: Sequence[int] = (1, 2, 3), configs: Mapping[str, str] | None = None
) -> None:
    cluster.call(lambda: cluster.cluster.controller.create_topic("orders", 1, assignments=[replicas], configs=configs))


def produce(
    cluster: RunningCluster, node_id: int, value: bytes = b"one", *, acks: int = -1
) -> PartitionProduceResponse:
    with cluster.client(node_id) as client:
        return client.produce("orders", batch(value), acks=acks, timeout_ms=200)


def values(cluster: RunningCluster, node_id: int) -> list[bytes]:
    with cluster.client(node_id) as client:
        return client.read_values("orders")


def test_the_leader_dies_and_an_in_sync_replica_leads(cluster: RunningCluster) -> None:
    create(cluster)
    assert produce(cluster, 1, b"a").error_code == ErrorCode.NONE

    cluster.kill(1)

    after = cluster.partition("orders")
    assert (after.leader_id, after.leader_epoch, after.isr) == (2, 1, [2, 3])
    assert produce(cluster, 3).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert produce(cluster, 2, b"b").base_offset == 1
    assert values(cluster, 2) == [b"a", b"b"]


def test_a_death_that_nobody_notices_ends_with_the_session(cluster: RunningCluster) -> None:
    create(cluster)
    cluster.kill(1, is_noticed=False)
    assert cluster.partition("orders").leader_id == 1

    cluster.advance(SESSION_MS)

    assert cluster.partition("orders").leader_id == 2


def test_a_node_that_returns_catches_up_and_joins_the_isr(cluster: RunningCluster) -> None:
    create(cluster)
    produce(cluster, 1, b"a")
    cluster.kill(1)
    produce(cluster, 2, b"b")

    cluster.restart(1)

    after = cluster.partition("orders")
    assert (after.leader_id, after.leader_epoch, after.isr) == (2, 1, NODES)
    assert values(cluster, 1) == [b"a", b"b"]
    assert produce(cluster, 2, b"c").error_code == ErrorCode.NONE
    assert cluster.log_end(1, "orders") == 3


def test_a_clean_stop_moves_the_leader_first(cluster: RunningCluster) -> None:
    create(cluster)
    produce(cluster, 1, b"a")

    cluster.shut_down(1)

    after = cluster.partition("orders")
    assert (after.leader_id, after.leader_epoch, after.isr) == (2, 1, [2, 3])
    cluster.restart(1)
    assert cluster.partition("orders").isr == NODES
    assert values(cluster, 1) == [b"a"]


def test_the_last_replica_in_sync_leads_again_after_its_return(cluster: RunningCluster) -> None:
    create(cluster, [1, 2])
    produce(cluster, 1, b"a")
    cluster.kill(2)
    produce(cluster, 1, b"b")
    cluster.kill(1)
    gone = cluster.partition("orders")
    assert (gone.leader_id, gone.isr, gone.elr, gone.last_known_elr) == (NO_LEADER, [], [1], [1])

    cluster.restart(2)
    assert cluster.partition("orders").leader_id == NO_LEADER
    cluster.restart(1)

    assert cluster.partition("orders").leader_id == 1
    assert values(cluster, 1) == values(cluster, 2) == [b"a", b"b"]


def test_an_unclean_election_loses_what_the_new_leader_does_not_have(cluster: RunningCluster) -> None:
    create(cluster, [1, 2], {"unclean.leader.election.enable": "true"})
    produce(cluster, 1, b"a")
    cluster.kill(2)
    produce(cluster, 1, b"lost")
    cluster.kill(1)

    cluster.restart(2)
    assert cluster.partition("orders").leader_id == 2
    produce(cluster, 2, b"b")
    cluster.restart(1)

    assert values(cluster, 1) == values(cluster, 2) == [b"a", b"b"]


def test_a_leader_without_a_log_truncates_what_its_predecessor_had_committed(cluster: RunningCluster) -> None:
    create(cluster, [1, 2])
    topic, control = cluster.cluster.image.topics["orders"], cluster.cluster.controller.replication
    cluster.call(lambda: control.move_leader(topic, 0, 2))
    cluster.call(lambda: control.move_leader(topic, 0, 1))
    cluster.call(lambda: cluster.membership.set_paused(2, is_paused=True))
    produce(cluster, 1, b"lost", acks=1)
    cluster.advance(LAG_MS + LAG_MS // 2)
    assert values(cluster, 1) == [b"lost"]

    cluster.call(lambda: control.move_leader(topic, 0, 2))

    assert produce(cluster, 2, b"a", acks=1).base_offset == 0
    assert values(cluster, 1) == values(cluster, 2) == [b"a"]


def test_too_few_replicas_in_sync_refuse_acks_all_and_hide_acks_one(cluster: RunningCluster) -> None:
    create(cluster, configs={"min.insync.replicas": "2"})
    produce(cluster, 1, b"a")
    cluster.kill(2)
    cluster.kill(3)

    assert produce(cluster, 1, b"b", acks=-1).error_code == ErrorCode.NOT_ENOUGH_REPLICAS
    assert produce(cluster, 1, b"c", acks=1).error_code == ErrorCode.NONE
    assert values(cluster, 1) == [b"a"]
    cluster.restart(3)
    assert values(cluster, 1) == [b"a", b"c"]


def test_a_replica_that_lags_leaves_the_isr_and_returns_when_it_fetches_again(cluster: RunningCluster) -> None:
    create(cluster)
    cluster.call(lambda: cluster.membership.set_paused(3, is_paused=True))
    timed_out = produce(cluster, 1, b"a")
    assert (timed_out.error_code, timed_out.base_offset) == (ErrorCode.REQUEST_TIMED_OUT, 0)
    assert values(cluster, 1) == []

    cluster.advance(LAG_MS + LAG_MS // 2)
    assert cluster.partition("orders").isr == [1, 2]
    assert values(cluster, 1) == [b"a"]

    cluster.call(lambda: cluster.membership.set_paused(3, is_paused=False))
    assert cluster.partition("orders").isr == NODES
    assert values(cluster, 3) == [b"a"]


def test_a_paused_replica_stays_paused_over_the_restart_of_its_node(cluster: RunningCluster) -> None:
    create(cluster)
    cluster.call(lambda: cluster.membership.set_paused(3, is_paused=True))
    cluster.kill(3)
    produce(cluster, 1, b"a")

    cluster.restart(3)

    assert cluster.membership.has_paused(3)
    assert (cluster.partition("orders").isr, cluster.log_end(3, "orders")) == ([1, 2], 0)
    cluster.call(lambda: cluster.membership.set_paused(3, is_paused=False))
    assert (cluster.partition("orders").isr, cluster.log_end(3, "orders")) == (NODES, 1)


def test_a_replica_that_was_paused_while_its_node_was_down_does_not_catch_up(cluster: RunningCluster) -> None:
    create(cluster)
    cluster.kill(3)
    cluster.call(lambda: cluster.membership.set_paused(3, is_paused=True, topic_name="orders", index=0))
    produce(cluster, 1, b"a")

    cluster.restart(3)

    assert cluster.log_end(3, "orders") == 0


def test_replicas_that_are_created_after_a_pause_fetch(cluster: RunningCluster) -> None:
    create(cluster)
    controller = cluster.cluster.controller
    cluster.call(lambda: cluster.membership.set_paused(3, is_paused=True))

    cluster.call(lambda: controller.create_topic("payments", 1, assignments=[NODES]))
    cluster.call(lambda: controller.create_partitions(cluster.cluster.image.topics["orders"], 2, assignments=[NODES]))

    for topic_name, index in (("payments", 0), ("orders", 1)):
        with cluster.client(1) as client:
            assert client.produce(topic_name, batch(b"a"), partition=index).error_code == ErrorCode.NONE
        assert cluster.log_end(3, topic_name, index) == 1


def test_a_new_topic_of_the_same_name_is_not_paused(cluster: RunningCluster) -> None:
    create(cluster)
    cluster.call(lambda: cluster.membership.set_paused(3, is_paused=True))
    topic = cluster.cluster.image.topics["orders"]

    cluster.call(lambda: cluster.cluster.controller.delete_topics([topic]))
    create(cluster)

    assert not cluster.membership.has_paused(3)
    assert produce(cluster, 1, b"a").error_code == ErrorCode.NONE


def test_a_leader_cut_off_takes_writes_that_are_lost(cluster: RunningCluster) -> None:
    create(cluster)
    produce(cluster, 1, b"a")
    cluster.call(lambda: cluster.membership.isolate(1, [Isolation.CONTROLLER, Isolation.NODES]))
    cluster.advance(SESSION_MS)
    assert cluster.partition("orders").leader_id == 2

    assert produce(cluster, 1, b"lost", acks=1).error_code == ErrorCode.NONE
    assert produce(cluster, 1, b"lost", acks=-1).error_code == ErrorCode.REQUEST_TIMED_OUT
    assert produce(cluster, 2, b"b").error_code == ErrorCode.NONE
    with cluster.client(1) as cut_off:
        (topic,) = [topic for topic in cut_off.metadata().topics if topic.name == "orders"]
    assert topic.partitions[0].leader_id == 1

    cluster.call(lambda: cluster.membership.rejoin(1))

    assert values(cluster, 1) == values(cluster, 2) == [b"a", b"b"]
    assert cluster.partition("orders").isr == NODES
    assert produce(cluster, 1).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_replica_without_the_deleted_records_copies_the_batch_with_the_log_start(cluster: RunningCluster) -> None:
    create(cluster)
    cluster.kill(3)
    with cluster.client(1) as client:
        client.produce("orders", batch(b"a", count=4))
    partition = cluster.cluster.nodes[0].replicas.partition_of("orders", 0)
    cluster.call(lambda: partition.delete_records_before(3))

    cluster.restart(3)

    copied = cluster.cluster.nodes[2].replicas.partition_of("orders", 0).log
    assert (copied.log_start_offset, copied.log_end_offset) == (3, 4)
    assert cluster.partition("orders").isr == NODES
