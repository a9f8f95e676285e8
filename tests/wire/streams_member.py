"""Heartbeats of members of a streams group, one connection each."""

from __future__ import annotations

from fauxka.protocol.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from fauxka.protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    Subtopology,
    TaskIds,
    TopicInfo,
    Topology,
)

from .message_client import MessageClient

GROUP, VERSION = "app", 1
# With these configs of a broker, a member has its tasks at once.
CONFIG = {"group.streams.initial.rebalance.delay.ms": "0", "group.streams.assignment.interval.ms": "0"}
TOPOLOGY = Topology(
    subtopologies=[
        Subtopology(
            subtopology_id="0",
            source_topics=["orders"],
            state_changelog_topics=[TopicInfo(name="app-changelog")],
        )
    ]
)


def coordinator(bootstrap: str, group_id: str = GROUP) -> Coordinator:
    """Return the coordinator of a group. bootstrap: addresses of nodes; the first one is asked."""
    client = MessageClient(bootstrap.split(",")[0])
    request = FindCoordinatorRequest(key_type=0, coordinator_keys=[group_id])
    found = client.call(request, 4, FindCoordinatorResponse).coordinators[0]
    client.close()
    return found


def coordinator_address(bootstrap: str) -> str:
    """Return the address of the coordinator of the group."""
    found = coordinator(bootstrap)
    return f"{found.host}:{found.port}"


def beat(
    bootstrap: str,
    member_id: str,
    epoch: int,
    owned: list[TaskIds] | None = None,
    topology: Topology = TOPOLOGY,
) -> StreamsGroupHeartbeatResponse:
    """Send a heartbeat to the coordinator; a joining one for epoch 0. owned: the active tasks that it reports."""
    request = StreamsGroupHeartbeatRequest(group_id=GROUP, member_id=member_id, member_epoch=epoch)
    if epoch == 0:
        request.rebalance_timeout_ms, request.topology, request.process_id = 60_000, topology, f"process-{member_id}"
        owned = []
    if owned is not None:
        request.active_tasks, request.standby_tasks, request.warmup_tasks = owned, [], []
    return send(bootstrap, request)


def send(bootstrap: str, request: StreamsGroupHeartbeatRequest) -> StreamsGroupHeartbeatResponse:
    """Send a heartbeat to the coordinator."""
    client = MessageClient(coordinator_address(bootstrap))
    response = client.call(request, VERSION, StreamsGroupHeartbeatResponse)
    client.close()
    return response
