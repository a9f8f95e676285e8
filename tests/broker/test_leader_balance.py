"""Preferred leaders that the controller elects from time to time."""

from fauxka.broker.metadata.metadata_image import PartitionRegistration

from .running_cluster import RunningCluster

INTERVAL_MS = 300_000


def after_the_return_of_the_leader(cluster: RunningCluster) -> PartitionRegistration:
    """Return a partition some time after its preferred leader, node 1, has died and returned."""
    cluster.call(lambda: cluster.cluster.controller.create_topic("orders", 1, assignments=[[1, 2]]))
    cluster.kill(1)
    cluster.restart(1)
    assert cluster.partition("orders").leader_id == 2
    cluster.advance(INTERVAL_MS)
    return cluster.partition("orders")


def test_the_preferred_leader_leads_again_after_some_time() -> None:
    with RunningCluster() as cluster:
        partition = after_the_return_of_the_leader(cluster)

    assert (partition.leader_id, partition.leader_epoch) == (1, 2)


def test_the_leader_stays_without_rebalance() -> None:
    with RunningCluster(**{"auto.leader.rebalance.enable": "false"}) as cluster:
        partition = after_the_return_of_the_leader(cluster)

    assert (partition.leader_id, partition.leader_epoch) == (2, 1)
