"""Drawn leaders of partitions, for the tests of both codecs."""

from hypothesis import strategies as st

from fauxka.protocol.current_leader import CurrentLeader, NodeEndpoint

# One address a node, as in a cluster.
ENDPOINTS = st.sampled_from(
    [
        NodeEndpoint(1, "node1.example", 9092, None),
        NodeEndpoint(2, "node2.example", 9093, "a"),
        NodeEndpoint(3, "ä.example", 65535, "ä" * 200),
    ]
)
EPOCHS = st.integers(0, 2**31 - 1)


def leader_at(endpoint: NodeEndpoint, leader_epoch: int) -> CurrentLeader:
    return CurrentLeader(endpoint.node_id, leader_epoch, endpoint)


LEADERS = st.builds(leader_at, ENDPOINTS, EPOCHS) | st.builds(CurrentLeader, st.just(-1), EPOCHS, st.none())


def endpoints_of(leaders: list[CurrentLeader | None]) -> list[NodeEndpoint]:
    """Return the address of each leader once, in the order of their first partition."""
    endpoints: list[NodeEndpoint] = []
    for leader in leaders:
        if leader is not None and leader.endpoint is not None and leader.endpoint not in endpoints:
            endpoints.append(leader.endpoint)
    return endpoints
