"""StreamsGroupHeartbeat: a member joins with its topology, gets its tasks, reports what it has revoked, or leaves.

Source: GroupCoordinatorService.throwIfStreamsGroupHeartbeatRequestIsInvalid and GroupMetadataManager
.streamsGroupHeartbeat, Kafka 4.4.0.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)
from ....protocol.stored_records.streams_group_records import (
    NO_EPOCH,
    StreamsGroupMetadata,
    StreamsRecordType,
    StreamsTopology,
    TargetTasks,
    Task,
)
from ....protocol.streams_status import StreamsStatus
from ..consumer.topics import metadata_hash, take_snapshot
from ..group.classic_group import ClassicGroup
from ..group.member_group import JOIN_EPOCH, LEAVE_EPOCH, STATIC_LEAVE_EPOCH
from ..group.typed_groups import GroupChange
from .heartbeat import Heartbeat, with_fields
from .heartbeat_checks import check_request, check_tasks
from .heartbeat_responses import HeartbeatResponses
from .members import member_of, owned_tasks
from .reconciliation import Reconciliation
from .streams_group import StreamsGroup, StreamsGroupState, TaskOffsets
from .target_assignment import Target, TargetAssignments
from .topology import ConfiguredTopology, InternalTopic, configure, required_topics, subtopologies_by_id

if TYPE_CHECKING:
    from ....protocol.messages.streams_group_heartbeat import TaskOffset, Topology
    from ..consumer.heartbeats import Client
    from ..consumer.topics import GroupTopics
    from ..group.typed_groups import TypedGroupStore
    from .members import StreamsMembers
    from .settings import StreamsGroupSettings

logger = logging.getLogger(__name__)


class HeartbeatResult(NamedTuple):
    """A response, and the internal topics that the application misses."""

    response: StreamsGroupHeartbeatResponse
    missing_topics: Mapping[str, InternalTopic]


class StreamsHeartbeats:
    """Handles StreamsGroupHeartbeat."""

    def __init__(
        self,
        store: TypedGroupStore[StreamsGroup],
        settings: StreamsGroupSettings,
        topics: GroupTopics,
        members: StreamsMembers,
    ) -> None:
        """topics: the topics of the cluster. members: removes members."""
        self._store = store
        self._settings = settings
        self._topics = topics
        self._members = members
        self._targets = TargetAssignments(store, settings)
        self._responses = HeartbeatResponses(settings, topics)

    def handle(self, request: StreamsGroupHeartbeatRequest, client: Client, api_version: int) -> HeartbeatResult:
        """Return the response to a heartbeat, and the topics to create for the application.

        Raises KafkaError: INVALID_REQUEST, GROUP_ID_NOT_FOUND, GROUP_MAX_SIZE_REACHED, UNKNOWN_MEMBER_ID,
        FENCED_MEMBER_EPOCH, FENCED_INSTANCE_ID, UNRELEASED_INSTANCE_ID, STREAMS_INVALID_TOPOLOGY,
        UNKNOWN_SERVER_ERROR, and the errors of CoordinatorLog.append.
        """
        check_request(request, is_complete=self._settings.is_complete)
        if request.member_epoch in (LEAVE_EPOCH, STATIC_LEAVE_EPOCH):
            return HeartbeatResult(self._leave(request), {})
        return self._join_or_stay(request, client, api_version)

    # -- leaving

    def _leave(self, request: StreamsGroupHeartbeatRequest) -> StreamsGroupHeartbeatResponse:
        group, member_id = self._store.group_of(request.group_id), request.member_id
        if request.shutdown_application:
            _request_shutdown(group, member_id)
        if request.instance_id is None:
            member = group.member_of(member_id)
        else:
            member = group.known_static_member(member_id, request.instance_id)
        if request.instance_id is not None and request.member_epoch == STATIC_LEAVE_EPOCH:
            self._members.leave_temporarily(group, member)
        else:
            self._members.remove(group, member_id)
        return StreamsGroupHeartbeatResponse(member_id=member_id, member_epoch=request.member_epoch)

    # -- joining and staying

    def _join_or_stay(self, request: StreamsGroupHeartbeatRequest, client: Client, api_version: int) -> HeartbeatResult:
        change = self._change_of(request)
        with change.group.reverting(request.member_id):
            return self._update(change, request, client, api_version)

    def _update(
        self,
        change: GroupChange[StreamsGroup],
        request: StreamsGroupHeartbeatRequest,
        client: Client,
        api_version: int,
    ) -> HeartbeatResult:
        heartbeat = self._heartbeat(change, request, client)
        topology = _updated_topology(change, request.topology)
        _report_stale_topology(heartbeat)
        configured, topics_hash = self._configured(change.group, topology)
        if configured.is_ready:
            check_tasks(configured, request)
        _keep_offsets(change.group, request)
        self._reconcile(heartbeat, self._target(heartbeat, configured, topics_hash))
        if request.shutdown_application:
            _request_shutdown(change.group, request.member_id)
        return HeartbeatResult(self._commit(heartbeat, configured, api_version), configured.missing)

    def _heartbeat(
        self, change: GroupChange[StreamsGroup], request: StreamsGroupHeartbeatRequest, client: Client
    ) -> Heartbeat:
        """Return the heartbeat, with the record of what its fields change of the member."""
        group = change.group
        static = group.static_member(request.instance_id)
        if static is not None and static.member_id != request.member_id:
            # Also if the request is refused below, as in Kafka.
            group.relabel_refined(static.member_id, request.member_id)
        before = member_of(change, request)
        drops_endpoint = self._settings.is_complete and request.member_epoch == JOIN_EPOCH
        member = with_fields(before, request, client, keeps_endpoint=not drops_endpoint)
        if member.metadata != before.metadata:
            change.add(StreamsRecordType.MEMBER_METADATA, member.metadata, member.member_id)
        return Heartbeat(request, change, before, member, None if static is None else static.member_id)

    def _target(self, heartbeat: Heartbeat, configured: ConfiguredTopology, topics_hash: int) -> Target:
        """Return the member's target assignment, in a new epoch of the group if it needs one."""
        change, group = heartbeat.change, heartbeat.change.group
        has_changed = self._has_changed(heartbeat, configured, topics_hash)
        refined = None if has_changed else self._refined_again(heartbeat)
        epoch = group.group_epoch
        if has_changed or (refined is not None and not heartbeat.member.has_tasks(refined)):
            epoch = self._bump_epoch(change, configured, topics_hash)
        if group.is_empty:
            self._targets.begin_initial_delay(group)
        return self._targets.update(heartbeat, configured, epoch, refined=refined)

    def _commit(
        self, heartbeat: Heartbeat, configured: ConfiguredTopology, api_version: int
    ) -> StreamsGroupHeartbeatResponse:
        """Write the change, start the member's timers, and return the response."""
        change, group = heartbeat.change, heartbeat.change.group
        is_known = self._store.registry.is_present(group.group_id)
        is_new = not self._store.registry.has(group)
        is_member = heartbeat.member.member_id in group.members
        # A heartbeat that fails below extends the session too.
        if is_member:
            self._update_timers(heartbeat)
        response = self._responses.make(heartbeat, configured, api_version, is_known=is_known)
        self._store.commit(change)
        if not is_member:
            self._update_timers(heartbeat)
        if is_new:
            # As in Kafka, what is not in the records begins with the next heartbeat.
            group.delete_soft_state()
        return response

    def _change_of(self, request: StreamsGroupHeartbeatRequest) -> GroupChange[StreamsGroup]:
        """Return the change of the group. A member that joins a missing group gets a new one."""
        group_id = request.group_id
        known = self._store.registry.find(group_id)
        if request.member_epoch != JOIN_EPOCH:
            if known is None:
                raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Streams group {group_id} not found.")
            return GroupChange(self._store.group_of(group_id))
        if known is None:
            return GroupChange(self._store.new_group(group_id))
        if isinstance(known, ClassicGroup) and known.is_empty:
            logger.info("group %s: the empty classic group becomes a streams group", group_id)
            return GroupChange(self._store.new_group(group_id), known.tombstones())
        group = self._store.group_of(group_id)
        members_max = self._settings.members_max
        is_member = request.member_id in group.members or group.static_member(request.instance_id) is not None
        if len(group.members) >= members_max and not (is_member and self._settings.is_complete):
            raise KafkaError(
                ErrorCode.GROUP_MAX_SIZE_REACHED,
                f"The streams group has reached its maximum capacity of {members_max} members.",
            )
        return GroupChange(group)

    def _configured(self, group: StreamsGroup, topology: Topology) -> tuple[ConfiguredTopology, int]:
        """Return the topology compared with the topics, and the hash of these; as last time if none has changed."""
        names = sorted(required_topics(topology))
        snapshot = take_snapshot(names, self._topics)
        if group.topology is not None and group.configured is not None and group.topics_snapshot == snapshot:
            return group.configured, group.metadata.metadata_hash
        topics_hash = metadata_hash(names, self._topics)
        configured = group.configured
        if configured is None or group.topology is None or topics_hash != group.metadata.metadata_hash:
            configured = configure(topology, self._topics)
        if configured is not group.configured:
            group.set_configured(configured, self._store.log.end_offset_of(group.group_id))
        group.topics_snapshot = snapshot
        return configured, topics_hash

    def _has_changed(self, heartbeat: Heartbeat, configured: ConfiguredTopology, topics_hash: int) -> bool:
        """Whether the member, the topology, its topics or its configs have changed: the group gets a new epoch."""
        group = heartbeat.change.group
        metadata = group.metadata
        return (
            heartbeat.has_changed_member
            or topics_hash != metadata.metadata_hash
            or _validated_epoch(configured) != metadata.validated_topology_epoch
            or self._settings.assignment_configs(group.group_id) != (metadata.assignment_configs or {})
        )

    def _refined_again(self, heartbeat: Heartbeat) -> Mapping[str, TargetTasks] | None:
        """Return the refined tasks of all members anew; None if those of the assignment epoch are still right."""
        group = heartbeat.change.group
        if not self._settings.refines(group.group_id):
            return None
        is_right = heartbeat.member.has_tasks(group.target_assignments) and not group.refined.is_relabelled
        if is_right or group.state is not StreamsGroupState.STABLE:
            return None
        return dict(group.target_assignments)

    def _bump_epoch(self, change: GroupChange[StreamsGroup], configured: ConfiguredTopology, topics_hash: int) -> int:
        """Add the record of the group's next epoch, and return that."""
        metadata = change.group.metadata
        bumped = StreamsGroupMetadata(
            metadata.epoch + 1,
            topics_hash,
            _validated_epoch(configured),
            self._settings.assignment_configs(change.group.group_id),
            metadata.stored_description_epoch,
            metadata.failed_description_epoch,
        )
        change.add(StreamsRecordType.GROUP_METADATA, bumped)
        return bumped.epoch

    def _reconcile(self, heartbeat: Heartbeat, target: Target) -> None:
        member, change = heartbeat.member, heartbeat.change
        if member.is_reconciled_to(target.epoch):
            return
        owned = owned_tasks(heartbeat.request)
        step = Reconciliation(
            target_epoch=target.epoch,
            target=target.tasks,
            owners=change.group.owners,
            owned=owned,
            keeps_promoted=self._settings.is_complete,
        )
        heartbeat.member = moved = step.step(member)
        heartbeat.has_moved = moved != member
        if heartbeat.has_moved:
            change.add(StreamsRecordType.CURRENT_MEMBER_ASSIGNMENT, moved.current_assignment(), moved.member_id)

    def _update_timers(self, heartbeat: Heartbeat) -> None:
        group, member = heartbeat.change.group, heartbeat.member
        if heartbeat.has_moved:
            self._members.update_rebalance_timeout(group, member)
        self._members.extend_session(group, member.member_id)


def _request_shutdown(group: StreamsGroup, member_id: str) -> None:
    if group.shutdown_member_id is None:
        logger.info("group %s: member %s requests a shutdown of the application", group.group_id, member_id)
        group.shutdown_member_id = member_id


def _report_stale_topology(heartbeat: Heartbeat) -> None:
    group_epoch, member_epoch = heartbeat.change.group.topology_epoch, heartbeat.member.metadata.topology_epoch
    if member_epoch < group_epoch:
        heartbeat.add_status(
            StreamsStatus.STALE_TOPOLOGY,
            f"The member's topology epoch {member_epoch} is behind the group's topology epoch {group_epoch}.",
        )


def _validated_epoch(configured: ConfiguredTopology) -> int:
    return configured.epoch if configured.is_ready else NO_EPOCH


def _updated_topology(change: GroupChange[StreamsGroup], sent: Topology | None) -> Topology:
    """Return the topology of the group: the first one that a member sends, which does not change later."""
    known = change.group.topology
    if sent is None:
        if known is None:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        return known
    by_id = subtopologies_by_id(sent)
    if sent.epoch < 0:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    if known is None:
        change.add(StreamsRecordType.TOPOLOGY, StreamsTopology(sent))
        return sent
    if known.epoch <= sent.epoch and (known.epoch, subtopologies_by_id(known)) != (sent.epoch, by_id):
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Topology updates are not supported yet.")
    return known


def _keep_offsets(group: StreamsGroup, request: StreamsGroupHeartbeatRequest) -> None:
    if request.task_offsets is None and request.task_end_offsets is None:
        return
    known = group.offsets_of(request.member_id)
    group.task_offsets[request.member_id] = TaskOffsets(
        known.positions if request.task_offsets is None else _offsets(request.task_offsets),
        known.ends if request.task_end_offsets is None else _offsets(request.task_end_offsets),
    )


def _offsets(reported: Sequence[TaskOffset]) -> dict[Task, int]:
    offsets: dict[Task, int] = {}
    for each in reported:
        task = Task(each.subtopology_id, each.partition)
        if task in offsets:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                f"Task offsets contain a duplicate entry for subtopology {each.subtopology_id} and partition "
                f"{each.partition}.",
            )
        offsets[task] = each.offset
    return offsets
