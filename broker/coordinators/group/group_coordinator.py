"""The group coordinator of a node: groups of every type and their committed offsets, for the request handlers.

All code is synchronous and runs on the event loop's thread. A response that must wait is a Deferred, and timeouts are
timers of the clock. Every change is appended to __consumer_offsets before a response reports it.
A node coordinates the groups of the partitions of __consumer_offsets that it leads. A request for another group raises
NOT_COORDINATOR (GroupRegistry.find).
Source: GroupCoordinatorService and GroupMetadataManager, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Collection, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Protocol

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.describe_groups import DescribedGroup
from ....protocol.messages.leave_group import MemberIdentity
from ....protocol.messages.list_groups import ListedGroup
from ....protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from ...runtime.deferred import Deferred
from .classic_group import ClassicGroup
from .group import GroupType
from .group_description import describe, describe_error, is_selected, list_entry
from .group_join import GroupJoin, JoinAttempt
from .group_membership import GroupMembership
from .group_offsets import GroupOffsets
from .group_records import new_group_record, offset_tombstone
from .group_registry import GroupRegistry
from .group_replay import GroupReplay
from .group_settings import GroupSettings
from .group_timers import GroupTimers
from .member_clients import MemberClients
from .offset_store import GroupTopicPartition
from .rebalance import Rebalance

if TYPE_CHECKING:
    from ....protocol.messages.heartbeat import HeartbeatRequest
    from ...metadata.metadata_image import TopicImage
    from ...runtime.clock import Clock, Timer
    from ..consumer.consumer_groups import ConsumerGroups
    from ..coordinator_log import CoordinatorLog
    from ..share.share_groups import ShareGroups
    from ..streams.streams_groups import StreamsGroups
    from .group import Group

logger = logging.getLogger(__name__)


def new_uuid_text() -> str:
    """Return a random UUID as text. Kafka appends one to the client id to make a member id."""
    return str(uuid.uuid4())


class GroupProtocols(Protocol):
    """Creates the coordinators of the groups of other protocols, each on its first use."""

    def new_consumer_groups(self, log: CoordinatorLog, registry: GroupRegistry, rebalance: Rebalance) -> ConsumerGroups:
        """Create the coordinator of consumer protocol groups (KIP-848)."""
        ...

    def new_share_groups(self, log: CoordinatorLog, registry: GroupRegistry) -> ShareGroups:
        """Create the coordinator of share groups (KIP-932)."""
        ...

    def new_streams_groups(self, log: CoordinatorLog, registry: GroupRegistry) -> StreamsGroups:
        """Create the coordinator of streams groups (KIP-1071)."""
        ...


class GroupCoordinator:
    """Coordinates the groups of the partitions that the node leads."""

    def __init__(
        self,
        settings: GroupSettings,
        clock: Clock,
        log: CoordinatorLog,
        protocols: GroupProtocols,
        new_member_suffix: Callable[[], str] = new_uuid_text,
    ) -> None:
        """Create the coordinator without groups.

        protocols: creates the coordinators of groups that are not classic.
        new_member_suffix: returns the unique part of a new member id.
        """
        self._settings = settings
        self._clock = clock
        self._log = log
        self._expiry: Timer | None = None
        self._registry = GroupRegistry(self._new_timers, self._schedule_expiry, log.check_coordinator)
        self.clients = MemberClients(self._registry.members_of)
        self._rebalance = Rebalance(settings, log)
        self._join = GroupJoin(settings, self._rebalance, log, self.clients, new_member_suffix)
        self._membership = GroupMembership(self._rebalance)
        self._protocols = protocols
        self.offsets = GroupOffsets(
            settings, self._registry, log, now_ms=clock.steady_ms, extend_session=self._extend_session
        )

    @cached_property
    def consumer_groups(self) -> ConsumerGroups:
        """The coordinator of consumer protocol groups (KIP-848)."""
        return self._protocols.new_consumer_groups(self._log, self._registry, self._rebalance)

    @cached_property
    def share_groups(self) -> ShareGroups:
        """The coordinator of share groups (KIP-932)."""
        return self._protocols.new_share_groups(self._log, self._registry)

    @cached_property
    def streams_groups(self) -> StreamsGroups:
        """The coordinator of streams groups (KIP-1071)."""
        return self._protocols.new_streams_groups(self._log, self._registry)

    def load(self) -> None:
        """Read the groups of led partitions that are not in memory yet, and begin the sessions of their members."""
        known = {group.group_id for group in self._registry.all()}
        replay = GroupReplay(
            self._registry,
            self.offsets,
            lambda record: self.consumer_groups.replay(record),
            lambda record: self.share_groups.replay(record),
            lambda record: self.streams_groups.replay(record),
        )
        self._log.load(replay.apply)
        loaded = [group for group in self._registry.all() if group.group_id not in known]
        for group in loaded:
            self.clients.expect(group.group_id)
            if isinstance(group, ClassicGroup):
                self._rebalance.begin_sessions(group)
                group.timers.finish_step()
            elif group.group_type is GroupType.CONSUMER:
                self.consumer_groups.begin_sessions(group.group_id)
            elif group.group_type is GroupType.SHARE:
                self.share_groups.begin_sessions(group.group_id)
            elif group.group_type is GroupType.STREAMS:
                self.streams_groups.begin_sessions(group.group_id)
        if loaded:
            logger.info("loaded %d groups", len(loaded))

    def flushed(self) -> Deferred[ErrorCode]:
        """Return what completes when the appended records are durable. See CoordinatorLog.flushed."""
        return self._log.flushed()

    def _new_timers(self, group_id: str) -> GroupTimers:
        return GroupTimers(self._clock, self._log.flushed, partial(self.clients.is_connected, group_id))

    def _extend_session(self, group: ClassicGroup, member_id: str) -> None:
        self._rebalance.extend_session(group, group.members[member_id])

    def has_group(self, group_id: str) -> bool:
        """Return whether this node has the group."""
        return self._registry.is_present(group_id)

    def check_coordinator(self, group_id: str) -> None:
        """Raise KafkaError NOT_COORDINATOR if another node coordinates the group."""
        self._registry.find(group_id)

    # -- membership

    def join(self, attempt: JoinAttempt) -> None:
        """Handle a JoinGroup request. The response is attempt.deferred."""
        request = attempt.request
        if not request.group_id:
            attempt.reject(ErrorCode.INVALID_GROUP_ID, attempt.member_id)
            return
        settings = self._settings
        if not settings.session_timeout_ms_min <= request.session_timeout_ms <= settings.session_timeout_ms_max:
            attempt.reject(ErrorCode.INVALID_SESSION_TIMEOUT, attempt.member_id)
            return
        try:
            group = self._joined_group(attempt)
        except KafkaError as error:
            attempt.reject(error.code, attempt.member_id if error.code is ErrorCode.UNKNOWN_MEMBER_ID else "")
            return
        self.clients.heard(group.group_id, attempt.member_id, attempt.connection)
        if isinstance(group, ClassicGroup):
            self._join.join(group, attempt)
            group.timers.finish_step()
        elif group.group_type is GroupType.CONSUMER:
            self.consumer_groups.join(attempt)
        else:
            attempt.reject(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)

    def _joined_group(self, attempt: JoinAttempt) -> Group:
        """Return the group that the attempt joins. A new classic group is created for a member without an id.

        It replaces a group of the consumer or streams protocol without members.
        Raises KafkaError: UNKNOWN_MEMBER_ID for a member of a missing group, and the errors of CoordinatorLog.append.
        """
        group_id = attempt.request.group_id
        group = self._registry.find(group_id)
        if group is not None and group.group_type in (GroupType.CONSUMER, GroupType.STREAMS) and group.is_empty:
            # For a member with an id the log keeps the group, as in Kafka: it is there again after a restart.
            if not attempt.member_id:
                self._log.append(group_id, group.tombstones())
            self._registry.delete(group)
            group = None
        if group is None and attempt.member_id:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Group {group_id} not found.")
        return self._new_group(group_id) if group is None else group

    def _new_group(self, group_id: str) -> ClassicGroup:
        """Create a group and append its record, even if the member is then rejected. Raises KafkaError."""
        group = self._registry.create_classic(group_id)
        try:
            self._log.append(group_id, [new_group_record(group)])
        except KafkaError as error:
            logger.warning("group %s: cannot write the new group: %s", group_id, error.message)
            self._registry.delete(group)
            raise
        return group

    def sync(self, request: SyncGroupRequest, deferred: Deferred[SyncGroupResponse]) -> None:
        """Handle a SyncGroup request, and complete deferred now or later. Raises KafkaError for a rejected request."""
        group = self._group_of_member(request.group_id)
        if isinstance(group, ClassicGroup):
            self._membership.sync(group, request, deferred)
            group.timers.finish_step()
        else:
            deferred.complete(self.consumer_groups.sync(request))

    def heartbeat(self, request: HeartbeatRequest, *, allows_early: bool) -> None:
        """Extend a member's session. Raises KafkaError, see GroupMembership.heartbeat and ClassicMembers.heartbeat."""
        group = self._group_of_member(request.group_id)
        if isinstance(group, ClassicGroup):
            self._membership.heartbeat(group, request, allows_early=allows_early)
        else:
            self.consumer_groups.classic_heartbeat(request)

    def leave(self, group_id: str, members: Sequence[MemberIdentity]) -> list[int]:
        """Remove members and return the error code of each. Raises KafkaError UNKNOWN_MEMBER_ID for a missing group."""
        group = self._group_of_member(group_id)
        if not isinstance(group, ClassicGroup):
            return self.consumer_groups.leave(group_id, members)
        error_codes = self._membership.leave(group, members)
        group.timers.finish_step()
        return error_codes

    def evict(self, group_id: str, member_id: str, instance_id: str | None) -> None:
        """Remove a member, as an administrator does. instance_id: of a static member.

        Raises KafkaError: GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID, and the errors of CoordinatorLog.append.
        """
        group = self._registry.group_of(group_id)
        if group.group_type is GroupType.SHARE:
            self.share_groups.remove_member(group_id, member_id)
            return
        if group.group_type is GroupType.STREAMS:
            self.streams_groups.remove_member(group_id, member_id)
            return
        (error_code,) = self.leave(group_id, [MemberIdentity(member_id=member_id, group_instance_id=instance_id)])
        if error_code:
            raise KafkaError(ErrorCode(error_code), f"group {group_id} has no member {member_id}")

    def _group_of_member(self, group_id: str) -> Group:
        """Return the classic or consumer protocol group of a member's request.

        Raises KafkaError: INVALID_GROUP_ID for an empty id, and UNKNOWN_MEMBER_ID for a missing group, which makes
        clients join again.
        """
        if not group_id:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID, "the group id is empty")
        group = self._registry.find(group_id)
        if group is None or group.group_type not in (GroupType.CLASSIC, GroupType.CONSUMER):
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Group {group_id} not found.")
        return group

    # -- administration

    def list_groups(self, states: Collection[str], types: Collection[str]) -> list[ListedGroup]:
        """Return the groups in one of the states and of one of the types. An empty filter matches every group."""
        return [list_entry(group) for group in self._registry.all() if is_selected(group, states, types)]

    def describe(self, group_id: str) -> DescribedGroup:
        """Return the classic group with its members. A missing group is returned as Dead."""
        try:
            return describe(self._registry.classic_group_of(group_id))
        except KafkaError as error:
            return describe_error(group_id, error)

    def rebalance(self, group_id: str) -> None:
        """Begin a rebalance of a group that has members, as if another one had joined.

        Members of a classic group must join again; no effect while the group waits for them. A group of another type
        gets its next epoch. Raises KafkaError: GROUP_ID_NOT_FOUND, and the errors of CoordinatorLog.append.
        """
        group = self._registry.group_of(group_id)
        if isinstance(group, ClassicGroup):
            if group.can_rebalance:
                self._rebalance.prepare(group, "requested by a test")
            group.timers.finish_step()
        elif group.group_type is GroupType.CONSUMER:
            self.consumer_groups.bump_epoch(group_id)
        elif group.group_type is GroupType.STREAMS:
            self.streams_groups.bump_epoch(group_id)
        else:
            self.share_groups.bump_epoch(group_id)

    def delete_group(self, group_id: str) -> None:
        """Delete a group without members, and its offsets.

        Raises KafkaError: GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP, and the errors of CoordinatorLog.append.
        """
        group = self._registry.group_of(group_id)
        group.check_delete()
        if group.group_type is GroupType.SHARE:
            self.share_groups.delete(group_id)
        self._delete(group, self.offsets.all_of_group(group_id))

    def remove_topics(self, topics: Sequence[TopicImage]) -> None:
        """Delete the offsets of deleted topics, and remove the topics from the share groups."""
        self.offsets.remove_topics([(topic.name, topic.topic_id) for topic in topics])
        if any(group.group_type is GroupType.SHARE for group in self._registry.all()):
            self.share_groups.remove_topics([topic.topic_id for topic in topics])

    def leaders_changed(self) -> None:
        """Drop the groups of the partitions that other nodes lead now, and load those that this node leads now."""
        lost = self._log.forget()
        if lost:
            self._unload([group for group in self._registry.all() if self._log.index_of(group.group_id) in lost])
        self.load()

    def unload(self) -> None:
        """Drop every group as if another node had become the coordinator. The coordinator must not be used after."""
        if self._expiry is not None:
            self._expiry.cancel()
        self._unload(self._registry.all())

    def _unload(self, groups: Sequence[Group]) -> None:
        """Drop groups, and respond NOT_COORDINATOR to pending requests, so that clients look for a coordinator.

        Source: GroupMetadataManager.onUnloaded, Kafka 4.3.0.
        """
        for group in groups:
            group.fail_pending_requests()
            self.offsets.remove(self.offsets.all_of_group(group.group_id))
            self._registry.delete(group)
            self.clients.forget_group(group.group_id)
        for group in groups:
            group.timers.finish_step()

    # -- expiry

    def _delete(self, group: Group, partitions: Sequence[GroupTopicPartition]) -> None:
        """Delete the group with all its offsets, which are those of the partitions. Raises KafkaError."""
        self._log.append(group.group_id, [*(offset_tombstone(each) for each in partitions), *group.tombstones()])
        self.offsets.remove(partitions)
        self._registry.delete(group)
        self.clients.forget_group(group.group_id)

    def _schedule_expiry(self) -> None:
        if self._expiry is None:
            self._expiry = self._clock.call_later(self._settings.offsets_retention_check_interval_ms, self._expire)

    def _expire(self) -> None:
        """Delete expired offsets, and groups without members and offsets. Runs again while there are groups."""
        self._expiry = None
        for group in self._registry.all():
            try:
                self._expire_of(group)
            except KafkaError as error:
                logger.warning("group %s: cannot delete expired offsets: %s", group.group_id, error.message)
        if len(self._registry):
            self._schedule_expiry()

    def _expire_of(self, group: Group) -> None:
        if group.group_type is GroupType.SHARE:
            # Share groups have no committed offsets and do not expire.
            return
        expired = self.offsets.expired_of(group)
        if group.is_empty and len(expired) == len(self.offsets.all_of_group(group.group_id)):
            self._delete(group, expired)
            self._clock.note_expired("groups", group.group_id)
        elif expired:
            self._log.append(group.group_id, [offset_tombstone(each) for each in expired])
            self.offsets.remove(expired)
        if expired:
            self._clock.note_expired("offsets", group.group_id, len(expired))
