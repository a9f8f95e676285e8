"""A coordinator on a clock that is moved by hand, and members that ask it: what the tests of groups share."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.coordinators.coordinator_log import CoordinatorLog, CoordinatorRecord
from fauxka.broker.coordinators.group.group import OffsetCommitter
from fauxka.broker.coordinators.group.group_coordinator import GroupCoordinator
from fauxka.broker.coordinators.group.group_join import JoinAttempt
from fauxka.broker.coordinators.group.group_offsets import OffsetToCommit
from fauxka.broker.coordinators.group.group_settings import GroupSettings
from fauxka.broker.coordinators.internal_topics import CoordinatorType, partition_of_key
from fauxka.broker.runtime.deferred import Deferred
from fauxka.protocol.batches.records import BatchOptions
from fauxka.protocol.error_codes import ErrorCode, KafkaError
from fauxka.protocol.messages.heartbeat import HeartbeatRequest
from fauxka.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from fauxka.protocol.messages.leave_group import MemberIdentity
from fauxka.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from fauxka.protocol.produced_records import TransactionalProducer
from fauxka.storage.coordinator_batch import TransactionMarker

from ...manual_clock import manual_clock

GROUP = "group"
SESSION_TIMEOUT_MS = 10_000
REBALANCE_TIMEOUT_MS = 60_000
OFFSET_COMMIT_VERSION = 9
NO_PRODUCER = BatchOptions()

# A consumer's subscription to topic "t", version 0, without user data.
SUBSCRIPTION = b"\x00\x00" + b"\x00\x00\x00\x01" + b"\x00\x01t" + b"\xff\xff\xff\xff"


class BreakableLog(CoordinatorLog):
    """A log whose appends fail with the error code broken_by, if it is set."""

    broken_by: ErrorCode | None = None

    @classmethod
    def of_cluster(cls, cluster: Cluster) -> BreakableLog:
        return cls(cluster.controller, cluster.node.replicas, CoordinatorType.GROUP, lambda: True, lambda _: None)

    def append(self, key_text: str, records: Sequence[CoordinatorRecord], options: BatchOptions = NO_PRODUCER) -> int:
        if self.broken_by is not None:
            raise KafkaError(self.broken_by, "the log is broken")
        return super().append(key_text, records, options)


def topic_id(topic_name: str) -> bytes:
    """Return the id of a topic of that name."""
    return topic_name.encode().rjust(16, b"-")[-16:]


class Connection:
    """The connection of a client."""

    def __init__(self) -> None:
        self.client_host = "127.0.0.1"
        self.is_closed = False


class GroupHarness:
    """A group coordinator with one group, on a manual clock. Members are named by their client id."""

    def __init__(self, settings: GroupSettings | None = None, config: Mapping[str, str] | None = None) -> None:
        self.clock = manual_clock()
        self.cluster = Cluster(BrokerConfig.from_entries(config or {}), clock=self.clock)
        self.log = BreakableLog.of_cluster(self.cluster)
        # The settings of the next coordinator that crash creates.
        self.settings = settings or GroupSettings(initial_rebalance_delay_ms=0)
        self._numbers = itertools.count(1)
        # By client id.
        self.connections: dict[str, Connection] = {}
        self.coordinator = self._new_coordinator()

    def _new_coordinator(self) -> GroupCoordinator:
        return GroupCoordinator(
            self.settings,
            self.clock,
            self.log,
            self.cluster.node.coordinators,
            lambda: str(next(self._numbers)),
        )

    def crash(self) -> None:
        """Replace the coordinator by a new one that loads the log."""
        self.clock.cancel_all()
        self.log = BreakableLog.of_cluster(self.cluster)
        self.coordinator = self._new_coordinator()
        self.coordinator.load()

    def start_join(
        self,
        client_id: str,
        member_id: str = "",
        *,
        instance: str | None = None,
        protocols: Mapping[str, bytes] | None = None,
        session_timeout_ms: int = SESSION_TIMEOUT_MS,
        rebalance_timeout_ms: int = REBALANCE_TIMEOUT_MS,
        version: int = 3,
    ) -> Deferred[JoinGroupResponse]:
        """Send a JoinGroup request of a version. A new member of version 3 needs no member id."""
        request = JoinGroupRequest(
            group_id=GROUP,
            session_timeout_ms=session_timeout_ms,
            rebalance_timeout_ms=rebalance_timeout_ms,
            member_id=member_id,
            group_instance_id=instance,
            protocol_type="consumer",
            protocols=[
                JoinGroupRequestProtocol(name=name, metadata=metadata)
                for name, metadata in (protocols or {"range": SUBSCRIPTION}).items()
            ],
        )
        attempt = JoinAttempt(
            request=request,
            client_id=client_id,
            connection=self.connections.setdefault(client_id, Connection()),
            requires_known_member_id=version >= 4,
            can_skip_assignment=version >= 9,
            deferred=Deferred(),
        )
        self.coordinator.join(attempt)
        return attempt.deferred

    def rejoin(self, member_id: str, metadata: bytes = SUBSCRIPTION) -> Deferred[JoinGroupResponse]:
        """Send a known member's JoinGroup request."""
        return self.start_join(member_id.rpartition("-")[0], member_id, protocols={"range": metadata})

    def start_sync(
        self, member_id: str, generation_id: int, assignments: Mapping[str, bytes] | None = None
    ) -> Deferred[SyncGroupResponse]:
        """Send a SyncGroup request. Raises KafkaError if it is rejected at once."""
        entries = [
            SyncGroupRequestAssignment(member_id=to, assignment=assignment)
            for to, assignment in (assignments or {}).items()
        ]
        deferred: Deferred[SyncGroupResponse] = Deferred()
        self.coordinator.sync(
            SyncGroupRequest(group_id=GROUP, generation_id=generation_id, member_id=member_id, assignments=entries),
            deferred,
        )
        return deferred

    def heartbeat(self, member_id: str, generation_id: int) -> ErrorCode:
        """Send a heartbeat, and return its error code."""
        request = HeartbeatRequest(group_id=GROUP, generation_id=generation_id, member_id=member_id)
        try:
            self.coordinator.heartbeat(request, allows_early=True)
        except KafkaError as error:
            return error.code
        return ErrorCode.NONE

    def leave(self, member_id: str) -> None:
        """Send a LeaveGroup request of a member."""
        self.coordinator.leave(GROUP, [MemberIdentity(member_id=member_id)])

    def commit(
        self,
        offset: int,
        *,
        topic: str = "t",
        member_id: str = "",
        generation_id: int = -1,
        retention_time_ms: int = -1,
    ) -> None:
        """Commit an offset of partition 0. Raises KafkaError."""
        committer = OffsetCommitter(
            group_id=GROUP, member_id=member_id, generation_id=generation_id, api_version=OFFSET_COMMIT_VERSION
        )
        committed = OffsetToCommit(topic_name=topic, topic_id=topic_id(topic), partition=0, offset=offset)
        error_codes = self.coordinator.offsets.commit(committer, [committed], retention_time_ms=retention_time_ms)
        assert error_codes == [ErrorCode.NONE]

    def commit_pending(self, offset: int, producer_id: int, *, topic: str = "t") -> None:
        """Commit an offset of partition 0 in the producer's transaction."""
        committer = OffsetCommitter(group_id=GROUP, api_version=OFFSET_COMMIT_VERSION, is_transactional=True)
        committed = OffsetToCommit(topic_name=topic, topic_id=topic_id(topic), partition=0, offset=offset)
        error_codes = self.coordinator.offsets.commit_pending(
            committer, [committed], TransactionalProducer(producer_id, 0)
        )
        assert error_codes == [ErrorCode.NONE]

    def end_transaction(self, producer_id: int, *, is_commit: bool) -> None:
        """Write the marker of the producer's transaction to the group's partition, and apply it."""
        partition = partition_of_key(self.cluster.controller, self.cluster.node.replicas, CoordinatorType.GROUP, GROUP)
        marker = TransactionMarker(producer_id=producer_id, producer_epoch=0, is_commit=is_commit)
        partition.append_coordinated(marker, self.clock.now_ms())
        self.coordinator.offsets.end_transaction(partition.index, producer_id, is_commit=is_commit)

    @property
    def is_pending(self) -> bool:
        """Whether a transaction has an offset for partition 0."""
        return self.coordinator.offsets.is_pending(GROUP, "t", 0)

    def committed(self, topic: str = "t") -> int | None:
        """Return the committed offset of partition 0."""
        found = self.coordinator.offsets.find(GROUP, topic, 0)
        return None if found is None else found.offset

    @property
    def state(self) -> str:
        """The group's state in DescribeGroups."""
        return self.coordinator.describe(GROUP).group_state

    @property
    def member_ids(self) -> list[str]:
        """The ids of the group's members."""
        return [member.member_id for member in self.coordinator.describe(GROUP).members]


def join_response(deferred: Deferred[JoinGroupResponse]) -> JoinGroupResponse:
    """Return the response, which must be complete."""
    response = deferred.response()
    assert response is not None, "the JoinGroup request is still pending"
    return response


def sync_response(deferred: Deferred[SyncGroupResponse]) -> SyncGroupResponse:
    """Return the response, which must be complete."""
    response = deferred.response()
    assert response is not None, "the SyncGroup request is still pending"
    return response


def stable_group(harness: GroupHarness, *client_ids: str) -> list[str]:
    """Return the member ids of a stable group, the leader first; its generation is the number of members."""
    member_ids: list[str] = []
    for generation_id, client_id in enumerate(client_ids, 1):
        newcomer = harness.start_join(client_id)
        for member_id in member_ids:
            harness.rejoin(member_id)
        member_ids.append(join_response(newcomer).member_id)
        for member_id in member_ids[1:]:
            harness.start_sync(member_id, generation_id)
        harness.start_sync(member_ids[0], generation_id, {member_id: member_id.encode() for member_id in member_ids})
    return member_ids
