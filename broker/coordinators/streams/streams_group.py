"""The state of one streams group: members, epochs, the topology and the tasks.

The replicated state changes only by records (`apply`): after they were appended, and when the log is replayed. The
configured topology, the offsets that members report of tasks, the refined assignment, a requested shutdown and the
epoch of the endpoints are in memory only, as in Kafka.
Source: StreamsGroup and GroupMetadataManager.replay, Kafka 4.4.0.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.stored_records.consumer_group_values import TargetAssignmentMetadata
from ....protocol.stored_records.streams_group_records import (
    NO_EPOCH,
    StreamsCurrentAssignment,
    StreamsGroupMetadata,
    StreamsMemberMetadata,
    StreamsRecordType,
    StreamsTopology,
    TargetTasks,
    Task,
)
from ....protocol.stored_records.typed_records import TypedRecord, TypedRecordType
from ..consumer.member import is_anonymous_transaction
from ..group.group import CheckOffset, GroupType, OffsetCommitter, accept_any_offset
from ..group.member_group import MemberGroup
from ..group.typed_groups import encoded
from .member import StreamsMember
from .task_processes import TaskProcesses
from .topology import subtopology_of_topic

if TYPE_CHECKING:
    from ....protocol.messages.streams_group_heartbeat import Topology
    from ..consumer.topics import TopicsSnapshot
    from ..coordinator_log import CoordinatorRecord
    from ..group.group_timers import GroupTimers
    from .topology import ConfiguredTopology

# The epoch of a group before its first record, which has epoch 2.
FIRST_EPOCH = 1
# The assignment epoch after a tombstone of the target assignment.
NEVER_ASSIGNED = -1
# OffsetCommit has the errors of members since this version.
COMMIT_VERSION_MIN = 9


class StreamsGroupState(Enum):
    """The states of a group, by the names that ListGroups and StreamsGroupDescribe return."""

    EMPTY = "Empty"
    # The topics do not fit the topology.
    NOT_READY = "NotReady"
    # The assignment epoch is lower than the group epoch.
    ASSIGNING = "Assigning"
    # A member does not have its target assignment yet.
    RECONCILING = "Reconciling"
    STABLE = "Stable"


class TaskOffsets:
    """The offsets of tasks that a member has reported: of its state, and of the end of the changelogs (KIP-1071)."""

    __slots__ = ("ends", "positions")

    def __init__(self, positions: Mapping[Task, int], ends: Mapping[Task, int]) -> None:
        """positions: the sum of the offsets that each task's state has."""
        self.positions = positions
        self.ends = ends


NO_TASK_OFFSETS = TaskOffsets({}, {})


class RefinedAssignment(NamedTuple):
    """The tasks towards which members go in an assignment epoch, kept because warm-up tasks will change with offsets.

    is_relabelled: whether a member has got another id since.
    """

    epoch: int = NEVER_ASSIGNED
    targets: Mapping[str, TargetTasks] = MappingProxyType({})
    is_relabelled: bool = False


class StreamsGroup(MemberGroup[StreamsMember]):
    """One streams group. Implements Group."""

    group_type = GroupType.STREAMS
    listed_protocol_type = "streams"
    __slots__ = (
        "_configured_at",
        "_described",
        "_owners",
        "assignment_epoch",
        "configured",
        "endpoint_epoch",
        "metadata",
        "refined",
        "shutdown_member_id",
        "target_assignments",
        "task_offsets",
        "topics_snapshot",
        "topology",
    )

    def __init__(self, group_id: str, timers: GroupTimers) -> None:
        """Create the group without members."""
        super().__init__(group_id, timers)
        self.metadata = StreamsGroupMetadata(FIRST_EPOCH, assignment_configs={})
        self.assignment_epoch = FIRST_EPOCH
        self.target_assignments: dict[str, TargetTasks] = {}
        self.topology: Topology | None = None
        self.configured: ConfiguredTopology | None = None
        self._described: ConfiguredTopology | None = None
        self._configured_at = -1
        # The topics of the topology when it was configured; None before.
        self.topics_snapshot: TopicsSnapshot | None = None
        self.task_offsets: dict[str, TaskOffsets] = {}
        self.refined = RefinedAssignment()
        # The member that has asked every member to end.
        self.shutdown_member_id: str | None = None
        # Raised with each change of the endpoints or of their tasks, so that members ask for them.
        self.endpoint_epoch = 0
        self._owners: TaskProcesses | None = None

    @property
    def group_epoch(self) -> int:
        """The epoch of the group."""
        return self.metadata.epoch

    @property
    def topology_epoch(self) -> int:
        """The epoch of the topology; NO_EPOCH without one."""
        return NO_EPOCH if self.topology is None else self.topology.epoch

    @property
    def state(self) -> StreamsGroupState:
        """The state, from the epochs of the group and of its members."""
        if not self.members:
            return StreamsGroupState.EMPTY
        if self.topology is None or self.topology.epoch != self.metadata.validated_topology_epoch:
            return StreamsGroupState.NOT_READY
        if self.group_epoch > self.assignment_epoch:
            return StreamsGroupState.ASSIGNING
        if all(member.is_reconciled_to(self.assignment_epoch) for member in self.members.values()):
            return StreamsGroupState.STABLE
        return StreamsGroupState.RECONCILING

    @property
    def state_name(self) -> str:
        """The state by the name that ListGroups returns."""
        return self.state.value

    def is_subscribed_to(self, topic_name: str) -> bool:
        """Whether a member may read the topic."""
        return bool(self.members) and self.topology is not None and topic_name in subtopology_of_topic(self.topology)

    def offsets_of(self, member_id: str) -> TaskOffsets:
        """Return the offsets that a member has reported."""
        return self.task_offsets.get(member_id, NO_TASK_OFFSETS)

    def relabel_refined(self, member_id: str, new_id: str) -> None:
        """Give the refined tasks of a member to another member id."""
        targets = dict(self.refined.targets)
        tasks = targets.pop(member_id, None)
        if tasks is not None:
            self.refined = RefinedAssignment(self.refined.epoch, {**targets, new_id: tasks}, is_relabelled=True)

    def set_configured(self, configured: ConfiguredTopology, end_offset: int) -> None:
        """Set the configured topology. end_offset: of the group's log, which has no record of it yet."""
        self._described = self.described(end_offset)
        self.configured, self._configured_at = configured, end_offset

    def described(self, end_offset: int) -> ConfiguredTopology | None:
        """Return the configured topology as a description has it: as of the last record in the group's log."""
        return self.configured if end_offset > self._configured_at else self._described

    @contextmanager
    def reverting(self, member_id: str) -> Generator[None, None, None]:
        """Undo in memory what a heartbeat of the member has changed if the block raises, as Kafka does.

        The endpoint epoch and a requested shutdown stay, as in Kafka. The offsets of an unknown member do not.
        """
        before = self._described, self.configured, self._configured_at, self.topics_snapshot
        try:
            yield
        except BaseException:
            self._described, self.configured, self._configured_at, self.topics_snapshot = before
            if member_id not in self.members:
                self.task_offsets.pop(member_id, None)
            raise

    def delete_soft_state(self) -> None:
        """Delete what is in memory only, which a node does not have that loads the group."""
        self.configured = self._described = self.topics_snapshot = self.shutdown_member_id = None
        self.task_offsets = {}
        self.refined = RefinedAssignment()
        self.endpoint_epoch = 0

    @property
    def owners(self) -> TaskProcesses:
        """The processes that have tasks."""
        if self._owners is None:
            self._owners = TaskProcesses(self.members.values())
        return self._owners

    # -- committed offsets, and administration

    def check_offset_commit(self, committer: OffsetCommitter) -> CheckOffset:
        """Check the client of a commit, and return the check of each offset.

        Raises KafkaError: UNKNOWN_MEMBER_ID, UNSUPPORTED_VERSION before OffsetCommit 9, and STALE_MEMBER_EPOCH.
        """
        if (committer.generation_id < 0 and not self.members) or is_anonymous_transaction(committer):
            return accept_any_offset
        member = self.member_of(committer.member_id)
        if not committer.is_transactional and committer.api_version < COMMIT_VERSION_MIN:
            raise KafkaError(
                ErrorCode.UNSUPPORTED_VERSION,
                "OffsetCommit version 9 or above must be used by members using the streams group protocol",
            )
        epoch = committer.generation_id
        if epoch == member.member_epoch:
            return accept_any_offset
        if epoch > member.member_epoch:
            raise _stale(f"Received member epoch {epoch} is newer than current member epoch {member.member_epoch}.")
        return self._older_epoch_check(member, epoch)

    def _older_epoch_check(self, member: StreamsMember, epoch: int) -> CheckOffset:
        """Return the check that accepts what the member had in an older epoch: the commit may have been in flight."""
        if self.topology is None:
            raise _stale("Topology is not available for offset commit validation.")
        subtopologies = subtopology_of_topic(self.topology)

        def check(topic_name: str, topic_id: bytes, partition: int) -> None:
            subtopology_id = subtopologies.get(topic_name)
            if subtopology_id is None:
                raise _stale(f"Topic {topic_name} is not in the topology.")
            task = Task(subtopology_id, partition)
            assigned_in = member.assigned.active.get(task, member.pending_revocation.active.get(task))
            name = f"{subtopology_id}-{partition}"
            if assigned_in is None:
                raise _stale(f"Task {name} is not assigned or pending revocation for member.")
            if epoch < assigned_in:
                raise _stale(
                    f"Received member epoch {epoch} is older than assignment epoch {assigned_in} for task {name}."
                )

        return check

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Check the client of an OffsetFetch. One that names no member is accepted.

        Raises KafkaError: UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH, and UNKNOWN_SERVER_ERROR for an epoch without a
        member, as Kafka does.
        """
        if member_id is None:
            if member_epoch >= 0:
                raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"an epoch of no member of group {self.group_id}")
            return
        member = self.member_of(member_id)
        if member_epoch != member.member_epoch:
            raise _stale(
                f"The received member epoch {member_epoch} does not match the expected member epoch "
                f"{member.member_epoch}."
            )

    def tombstones(self) -> Sequence[CoordinatorRecord]:
        """Return the tombstones that delete the group."""
        records = [
            *(self._tombstone(StreamsRecordType.CURRENT_MEMBER_ASSIGNMENT, each) for each in self.members),
            *(self._tombstone(StreamsRecordType.TARGET_ASSIGNMENT_MEMBER, each) for each in self.members),
            self._tombstone(StreamsRecordType.TARGET_ASSIGNMENT_METADATA),
            *(self._tombstone(StreamsRecordType.MEMBER_METADATA, each) for each in self.members),
            self._tombstone(StreamsRecordType.GROUP_METADATA),
            self._tombstone(StreamsRecordType.TOPOLOGY),
        ]
        return encoded(records)

    def _tombstone(self, record_type: StreamsRecordType, member_id: str = "") -> TypedRecord:
        return TypedRecord(record_type, self.group_id, member_id)

    # -- records

    def apply(self, record: TypedRecord) -> None:
        """Apply a record. The caller handles the tombstone of the group itself."""
        member_id = record.name
        match record.value:
            case StreamsGroupMetadata() as value:
                self.metadata = value
            case StreamsMemberMetadata() as value:
                before = self.members.get(member_id) or StreamsMember(member_id=member_id)
                self._put(before.with_metadata(value))
            case StreamsCurrentAssignment() as value:
                before = self.members.get(member_id) or StreamsMember(member_id=member_id)
                self._put(before.with_assignment(value))
            case TargetTasks() as value:
                self.target_assignments[member_id] = value
            case TargetAssignmentMetadata() as value:
                self.assignment_epoch = value.assignment_epoch
                self.assignment_timestamp_ms = value.assignment_timestamp
            case StreamsTopology() as value:
                self.topology = value.topology
            case None:
                self._apply_tombstone(record.record_type, member_id)
            case _:
                raise AssertionError(f"not a record of a streams group: {record}")

    def _apply_tombstone(self, record_type: TypedRecordType, member_id: str) -> None:
        match record_type:
            case StreamsRecordType.MEMBER_METADATA:
                self._remove(member_id)
            case StreamsRecordType.CURRENT_MEMBER_ASSIGNMENT:
                if member_id in self.members:
                    self._put(self.members[member_id].without_assignment())
            case StreamsRecordType.TARGET_ASSIGNMENT_MEMBER:
                self.target_assignments.pop(member_id, None)
            case StreamsRecordType.TARGET_ASSIGNMENT_METADATA:
                self.assignment_epoch, self.assignment_timestamp_ms = NEVER_ASSIGNED, 0
            case StreamsRecordType.TOPOLOGY:
                self.topology = None
            case _:
                raise AssertionError(f"the tombstone of group {self.group_id} is not for the group")

    def _put(self, member: StreamsMember) -> None:
        before = self.members.get(member.member_id)
        if before is not None and before.instance_id is not None:
            self.static_members.pop(before.instance_id, None)
        self.members[member.member_id] = member
        if member.instance_id is not None:
            self.static_members[member.instance_id] = member.member_id
        self._owners = None

    def _remove(self, member_id: str) -> None:
        member = self.members.pop(member_id, None)
        if member is not None and member.instance_id is not None:
            self.static_members.pop(member.instance_id, None)
        self.task_offsets.pop(member_id, None)
        if not self.members:
            self.shutdown_member_id = None
        self._owners = None


def _stale(message: str) -> KafkaError:
    return KafkaError(ErrorCode.STALE_MEMBER_EPOCH, message)
