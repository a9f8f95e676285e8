"""A heartbeat of a member while it is handled, and what it changes of the member.

Source: GroupMetadataManager.streamsGroupHeartbeat and hasStreamsMemberMetadataChanged, Kafka 4.4.0.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.streams_group_heartbeat import Status, StreamsGroupHeartbeatRequest
from ....protocol.stored_records.streams_group_records import StreamsMemberMetadata
from ....protocol.streams_status import StreamsStatus
from ..group.member_group import JOIN_EPOCH
from ..group.typed_groups import GroupChange
from .member import StreamsMember
from .streams_group import StreamsGroup

if TYPE_CHECKING:
    from ..consumer.heartbeats import Client

# The value of RebalanceTimeoutMs in a request without one.
_NO_TIMEOUT = -1


@dataclass(slots=True)
class Heartbeat:
    """A heartbeat while it is handled.

    before, member: the member without and with its fields. replaced_id: of the static member whose place it takes.
    has_moved: whether the heartbeat is a step towards the member's target assignment.
    """

    request: StreamsGroupHeartbeatRequest
    change: GroupChange[StreamsGroup]
    before: StreamsMember
    member: StreamsMember
    replaced_id: str | None
    has_moved: bool = False
    statuses: list[Status] = field(default_factory=list[Status])

    @property
    def is_joining(self) -> bool:
        """Whether the member joins, also again."""
        return self.request.member_epoch == JOIN_EPOCH

    @property
    def has_new_tasks(self) -> bool:
        """Whether the member's tasks have changed."""
        return self.member.assigned != self.before.assigned

    def add_status(self, status: StreamsStatus, detail: str) -> None:
        """Add a status of the response."""
        self.statuses.append(Status(status_code=status, status_detail=detail))

    @property
    def has_changed_member(self) -> bool:
        """Whether the member has changed so that the tasks must be assigned again."""
        before, after = self.before.metadata, self.member.metadata
        if self.request.instance_id is None:
            return after != before
        return (after.topology_epoch, after.rack_id, after.client_tags, after.process_id) != (
            before.topology_epoch,
            before.rack_id,
            before.client_tags,
            before.process_id,
        )


def with_fields(
    member: StreamsMember, request: StreamsGroupHeartbeatRequest, client: Client, *, keeps_endpoint: bool
) -> StreamsMember:
    """Return the member with the fields of the request. Null ones keep their value, the endpoint if keeps_endpoint."""
    before = member.metadata
    endpoint = None if request.user_endpoint is None else (request.user_endpoint.host, request.user_endpoint.port)
    if endpoint is None and keeps_endpoint:
        endpoint = before.user_endpoint
    timeout_ms, tags = request.rebalance_timeout_ms, request.client_tags
    if tags is not None and len({tag.key for tag in tags}) < len(tags):
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    metadata = StreamsMemberMetadata(
        instance_id=before.instance_id if request.instance_id is None else request.instance_id,
        rack_id=before.rack_id if request.rack_id is None else request.rack_id,
        client_id=client.client_id,
        client_host=client.client_host,
        rebalance_timeout_ms=before.rebalance_timeout_ms if timeout_ms == _NO_TIMEOUT else timeout_ms,
        topology_epoch=before.topology_epoch if request.topology is None else request.topology.epoch,
        process_id=before.process_id if request.process_id is None else request.process_id,
        user_endpoint=endpoint,
        client_tags=before.client_tags if tags is None else {tag.key: tag.value for tag in tags},
    )
    return replace(member, metadata=metadata)
