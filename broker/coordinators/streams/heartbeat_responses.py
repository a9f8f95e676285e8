"""The response to a heartbeat: the member's tasks, the endpoints of the others, and why the application cannot run.

Source: GroupMetadataManager.streamsGroupHeartbeat, Kafka 4.4.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatResponse
from ....protocol.streams_status import StreamsStatus
from .endpoints import partitions_by_endpoint, task_ids

if TYPE_CHECKING:
    from ..consumer.topics import GroupTopics
    from .heartbeat import Heartbeat
    from .settings import StreamsGroupSettings
    from .topology import ConfiguredTopology

# The version since which a response says which client tags are missing.
_MISSING_TAGS_SINCE = 1


class HeartbeatResponses:
    """Makes responses before the records of a heartbeat are written: that may fail, and the response too."""

    __slots__ = ("_settings", "_topics")

    def __init__(self, settings: StreamsGroupSettings, topics: GroupTopics) -> None:
        """topics: the topics of the cluster."""
        self._settings = settings
        self._topics = topics

    def make(
        self, heartbeat: Heartbeat, configured: ConfiguredTopology, api_version: int, *, is_known: bool
    ) -> StreamsGroupHeartbeatResponse:
        """Return the response.

        configured: the topology compared with the topics. is_known: whether the group existed before the heartbeat.
        Raises KafkaError UNKNOWN_SERVER_ERROR if the endpoints cannot be listed, because topics are missing.
        """
        member, settings, group_id = heartbeat.member, self._settings, heartbeat.change.group.group_id
        response = StreamsGroupHeartbeatResponse(
            member_id=member.member_id,
            member_epoch=member.member_epoch,
            heartbeat_interval_ms=settings.heartbeat_interval_ms(group_id),
        )
        if settings.is_complete:
            response.task_offset_interval_ms = settings.task_offset_interval_ms(group_id)
            response.acceptable_recovery_lag = settings.acceptable_recovery_lag(group_id)
        if heartbeat.is_joining or heartbeat.has_new_tasks:
            response.active_tasks = task_ids(member.assigned.active)
            response.standby_tasks = task_ids(member.assigned.standby)
            response.warmup_tasks = task_ids(member.assigned.warmup)
        self._add_endpoints(response, heartbeat, configured)
        if is_known:
            response.endpoint_information_epoch = heartbeat.change.group.endpoint_epoch
        if configured.problem is not None:
            heartbeat.add_status(*configured.problem)
        self._add_requests(heartbeat, api_version)
        response.status = heartbeat.statuses
        return response

    def _add_endpoints(
        self, response: StreamsGroupHeartbeatResponse, heartbeat: Heartbeat, configured: ConfiguredTopology
    ) -> None:
        group, member = heartbeat.change.group, heartbeat.member
        endpoint, is_complete = member.metadata.user_endpoint, self._settings.is_complete
        if is_complete:
            has_new_endpoint = endpoint != heartbeat.before.metadata.user_endpoint
        else:
            has_new_endpoint = heartbeat.is_joining and endpoint is not None
        if has_new_endpoint or (heartbeat.has_new_tasks and endpoint is not None):
            group.endpoint_epoch += 1
        if group.endpoint_epoch != heartbeat.request.endpoint_information_epoch:
            own_ids = (member.member_id, heartbeat.replaced_id)
            others = [each for each in group.members.values() if each.member_id not in own_ids]
            response.partitions_by_user_endpoint = partitions_by_endpoint(
                [*others, member], configured, self._topics, knows_counts=is_complete
            )

    def _add_requests(self, heartbeat: Heartbeat, api_version: int) -> None:
        """Add what the application or its administrator has to do."""
        group = heartbeat.change.group
        if group.shutdown_member_id is not None:
            heartbeat.add_status(
                StreamsStatus.SHUTDOWN_APPLICATION,
                f"Streams group member {group.shutdown_member_id} encountered a fatal error and requested a shutdown "
                "for the entire application.",
            )
        tags = heartbeat.member.metadata.client_tags
        missing_tags = [each for each in self._settings.rack_tags(group.group_id) if each not in tags]
        if api_version >= _MISSING_TAGS_SINCE and missing_tags:
            heartbeat.add_status(
                StreamsStatus.MISSING_CLIENT_TAGS,
                f"Missing required client tags for rack-aware standby assignment: [{', '.join(missing_tags)}]. "
                "Configure them via 'client.tag.<tagKey>' in your Streams config.",
            )
