"""Selects the replica that a consumer reads from: one in its rack, or the leader (KIP-392).

Source: RackAwareReplicaSelector and ReplicaManager.findPreferredReadReplica, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .partition import Partition

# The values of replica.selector.class.
RACK_AWARE_SELECTOR = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


def find_preferred_replica(
    partition: Partition, offset: int, client_rack: str, racks: Mapping[int, str | None]
) -> int | None:
    """Return the id of the in-sync follower in the client's rack that has the offset, or None to read from the leader.

    partition: on its leader. racks: of the brokers that are alive and that the client can reach, by id.
    """
    replication = partition.replication
    if replication is None or racks.get(partition.leader_id) == client_rack:
        return None
    followers = [
        follower
        for follower in replication.followers.values()
        if follower.node_id in replication.isr
        and follower.end_offset >= offset
        and racks.get(follower.node_id) == client_rack
    ]
    if not followers:
        return None
    return max(followers, key=lambda each: (each.end_offset, each.caught_up_ms, each.node_id)).node_id
