"""Connections to the leader of a partition, which moves between the nodes of a cluster."""

from __future__ import annotations

import time
from contextlib import closing

from ...protocol.api_keys import ApiKey
from ...protocol.client_requests import CLIENT_ID
from ...protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from .client import SETTLE_SECONDS_MAX
from .login import Login
from .raw_connection import ConnectionLost, NoResponse, RawConnection

# The last version with topic names only.
METADATA_VERSION = 9
RECONNECT_SECONDS = 0.02


def connect_to_leader(
    bootstrap_servers: str,
    topic: str,
    partition: int = 0,
    client_id: str = CLIENT_ID,
    login: Login | None = None,
) -> RawConnection:
    """Return a connection to the leader, as the first node that responds names it. Raises ConnectionLost.

    bootstrap_servers: a single address is the leader's, and needs no lookup. login: None for no authentication.
    """
    addresses = bootstrap_servers.split(",")
    if len(addresses) == 1:
        return RawConnection(bootstrap_servers, client_id, login)
    for address in addresses:
        try:
            with closing(RawConnection(address, client_id, login)) as connection:
                leader = _find_leader(connection, topic, partition)
            if leader is not None:
                return RawConnection(leader, client_id, login)
        except (ConnectionLost, NoResponse):
            continue
    raise ConnectionLost(f"no node names a leader of {topic}-{partition} that responds")


def await_leader(bootstrap_servers: str, topic: str, client_id: str, login: Login | None = None) -> RawConnection:
    """Return a connection to the leader of partition 0, as soon as there is one. Raises ConnectionLost."""
    deadline = time.monotonic() + SETTLE_SECONDS_MAX
    while True:
        try:
            return connect_to_leader(bootstrap_servers, topic, client_id=client_id, login=login)
        except ConnectionLost:
            if time.monotonic() > deadline:
                raise
            time.sleep(RECONNECT_SECONDS)


def _find_leader(connection: RawConnection, topic: str, partition: int) -> str | None:
    """Return the address of the leader in a node's metadata, None without one."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)
    answer = connection.send_and_receive(ApiKey.METADATA, METADATA_VERSION, request, MetadataResponse.read)
    leader_ids = [each.leader_id for each in answer.topics[0].partitions if each.partition_index == partition]
    addresses = {broker.node_id: f"{broker.host}:{broker.port}" for broker in answer.brokers}
    return addresses.get(leader_ids[0]) if leader_ids else None
