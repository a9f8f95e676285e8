"""All groups of the consumer protocol (KIP-848), behind one door for the group coordinator."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ....protocol.error_codes import KafkaError
from ....protocol.kafka_uuid import new_uuid, uuid_text
from ....protocol.stored_records.consumer_group_records import ConsumerGroupRecord
from ....protocol.stored_records.consumer_group_values import RegularExpression
from .classic_members import ClassicMembers
from .coordinator_result import ConsumerGroupStore
from .description import describe, describe_nameless, describe_unknown
from .downgrade import Downgrade
from .fencing import Fencing
from .heartbeats import Client, Heartbeats
from .member_update import MemberUpdate
from .regex_refresh import RegexRefresh
from .sessions import MemberSessions
from .upgrade import Upgrade

if TYPE_CHECKING:
    from ....protocol.messages.consumer_group_describe import DescribedGroup
    from ....protocol.messages.consumer_group_heartbeat import (
        ConsumerGroupHeartbeatRequest,
        ConsumerGroupHeartbeatResponse,
    )
    from ....protocol.messages.heartbeat import HeartbeatRequest
    from ....protocol.messages.leave_group import MemberIdentity, MemberResponse
    from ....protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
    from ..coordinator_log import CoordinatorLog
    from ..group.group_join import JoinAttempt
    from ..group.group_registry import GroupRegistry
    from ..group.rebalance import Rebalance
    from .group import ConsumerGroup
    from .member import ConsumerMember
    from .settings import ConsumerGroupSettings
    from .topics import GroupTopics


def new_member_id() -> str:
    """Return a random member id, as Kafka makes them: a Uuid in its own text form."""
    return uuid_text(new_uuid())


class ConsumerGroups:
    """Coordinates the groups of the consumer protocol; they are among all groups of the registry."""

    def __init__(
        self,
        settings: ConsumerGroupSettings,
        registry: GroupRegistry,
        log: CoordinatorLog,
        topics: GroupTopics,
        *,
        rebalance: Rebalance,
        new_member_id: Callable[[], str] = new_member_id,
    ) -> None:
        """Assign partitions of topics; groups that become classic ones are moved by rebalance."""
        self._settings = settings
        self._topics = topics
        self._store = ConsumerGroupStore(registry, log)
        self._sessions = MemberSessions(settings, self._fence)
        downgrade = Downgrade(self._store, settings, topics, rebalance)
        self._fencing = Fencing(self._store, topics, self._sessions, downgrade)
        update = MemberUpdate(settings, topics)
        regexes = RegexRefresh(self._store, settings, topics)
        self._heartbeats = Heartbeats(
            self._store,
            settings,
            upgrade=Upgrade(self._store, settings, topics, self._sessions),
            update=update,
            regexes=regexes,
            fencing=self._fencing,
            new_member_id=new_member_id,
        )
        self._classic_members = ClassicMembers(
            self._store,
            settings,
            topics,
            update=update,
            regexes=regexes,
            fencing=self._fencing,
            downgrade=downgrade,
            new_member_id=new_member_id,
        )

    def _fence(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        self._fencing.fence(group, [member])

    def heartbeat(
        self, request: ConsumerGroupHeartbeatRequest, client: Client, api_version: int
    ) -> ConsumerGroupHeartbeatResponse:
        """Answer a ConsumerGroupHeartbeat; raises KafkaError, see Heartbeats.answer."""
        return self._heartbeats.answer(request, client, api_version)

    def describe(self, group_ids: list[str]) -> list[DescribedGroup]:
        """Return the groups; the one without a name first, as often as it is asked for."""
        nameless = [describe_nameless() for group_id in group_ids if not group_id]
        return nameless + [self._describe(group_id) for group_id in group_ids if group_id]

    def _describe(self, group_id: str) -> DescribedGroup:
        try:
            group = self._store.group_of(group_id)
        except KafkaError as error:
            return describe_unknown(group_id, error.message)
        return describe(group, self._topics, self._settings.limits.assignors[0])

    # -- classic members

    def join(self, attempt: JoinAttempt) -> None:
        """Answer a JoinGroup request."""
        group = self._store.group_of(attempt.request.group_id)
        try:
            response = self._classic_members.join(group, attempt)
        except KafkaError as error:
            attempt.reject(error.code)
            return
        group.timers.delay_response(lambda: attempt.deferred.complete(response), attempt.reject)
        group.finish_step()

    def sync(self, request: SyncGroupRequest) -> SyncGroupResponse:
        """Answer a SyncGroup request; raises KafkaError, see ClassicMembers.sync."""
        return self._classic_members.sync(self._store.group_of(request.group_id), request)

    def classic_heartbeat(self, request: HeartbeatRequest) -> None:
        """Extend a classic member's session; raises KafkaError, see ClassicMembers.heartbeat."""
        group = self._store.group_of(request.group_id)
        self._classic_members.heartbeat(group, request.member_id, request.group_instance_id, request.generation_id)

    def leave(self, group_id: str, members: list[MemberIdentity]) -> list[MemberResponse]:
        """Let members go; raises KafkaError where that cannot be written."""
        return self._classic_members.leave(self._store.group_of(group_id), members)

    # -- at a start

    def replay(self, record: ConsumerGroupRecord) -> None:
        """Apply a record that is read again."""
        self._store.replay(record)
        if isinstance(record.value, RegularExpression):
            self._topics.continue_after(record.value.version)

    def begin_sessions(self, group_id: str) -> None:
        """Begin the sessions of a group that was read."""
        self._sessions.begin(self._store.group_of(group_id))
