"""The details of a request in the journal: one model for each kind of request."""

from __future__ import annotations

from msgspec import Struct

# The partitions, members and batches of a request that its details have.
PARTS_MAX = 100


class ResponseError(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An error inside a response, and what it is about.

    topic: its id as text, if the topic did not exist. key: a key of FindCoordinator, or the name of a resource or user.
    """

    error: str
    topic: str | None = None
    partition: int | None = None
    group_id: str | None = None
    member_id: str | None = None
    transactional_id: str | None = None
    key: str | None = None


class FetchedRange(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A partition of a Fetch: the offset asked for, and the batches in the response.

    first_offset, last_offset: of the first batch, which may begin before fetch_offset, and of the last whole one; None
    without records. high_watermark, last_stable_offset, log_start_offset: None if the response has not the partition,
    such as one of a session without changes.
    """

    topic: str
    partition: int
    fetch_offset: int | None = None
    first_offset: int | None = None
    last_offset: int | None = None
    high_watermark: int | None = None
    last_stable_offset: int | None = None
    log_start_offset: int | None = None
    error: str | None = None


class FetchDetails(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A Fetch. isolation: "read_uncommitted" or "read_committed".

    session_id, session_epoch: of the request. new_session_id: of the response, if it is another one.
    partitions_left_out: how many partitions there are beyond 100, those with records and errors come first.
    """

    isolation: str
    session_id: int
    session_epoch: int
    partitions: list[FetchedRange]
    new_session_id: int | None = None
    partitions_left_out: int = 0


class ListedOffset(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A partition of a ListOffsets: the timestamp asked for (-1 latest, -2 earliest), and the offset of the response.

    offset, timestamp: -1 if no record has the timestamp; None without a response.
    """

    topic: str
    partition: int
    asked_timestamp: int | None = None
    offset: int | None = None
    timestamp: int | None = None
    error: str | None = None


class ListOffsetsDetails(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A ListOffsets. isolation: as in FetchDetails."""

    isolation: str
    partitions: list[ListedOffset]
    partitions_left_out: int = 0


class GroupOffset(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The offset of a group for a partition: the one to commit, or the committed one that OffsetFetch returned.

    offset: -1 if OffsetFetch found none; None without a response to it.
    group_id: of an OffsetFetch for several groups.
    """

    topic: str
    partition: int
    offset: int | None = None
    leader_epoch: int | None = None
    error: str | None = None
    group_id: str | None = None


class OffsetsDetails(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An OffsetCommit, TxnOffsetCommit or OffsetFetch. epoch: the generation of the group, or the epoch of the member.

    group_id, member_id, epoch: of the first group of an OffsetFetch. epoch: -1 for a commit without a member.
    """

    group_id: str
    member_id: str | None
    epoch: int | None
    offsets: list[GroupOffset]
    group_instance_id: str | None = None
    producer_id: int | None = None
    producer_epoch: int | None = None
    offsets_left_out: int = 0


class TopicPartitions(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Partitions of a topic. topic: its id as text, if the topic did not exist."""

    topic: str
    partitions: list[int]


class GroupMember(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A member in a list of members. assignment: of SyncGroup. error: of LeaveGroup."""

    member_id: str
    group_instance_id: str | None = None
    assignment: list[TopicPartitions] | None = None
    error: str | None = None


class MemberTasks(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The tasks of a member of a streams group: the partitions of each subtopology by its id."""

    active: dict[str, list[int]] = {}
    standby: dict[str, list[int]] = {}
    warmup: dict[str, list[int]] = {}


class MemberDetails(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A request of a group member: JoinGroup, SyncGroup, Heartbeat, LeaveGroup and the heartbeats of the newer groups.

    member_id: of the response, if that has one. epoch, new_epoch: the generation of the group, or the epoch of the
    member, of the request and of the response. owned: the partitions that the member reports. assignment: those that
    the response assigns; None if it assigns none anew. owned_tasks, tasks: the same of a streams group. statuses: what
    keeps its application from running, such as "MISSING_SOURCE_TOPICS: Source topics orders are missing."
    members: those of a JoinGroup response to the leader, of a SyncGroup of the leader, or those that leave.
    """

    group_id: str
    member_id: str | None
    group_instance_id: str | None = None
    epoch: int | None = None
    new_epoch: int | None = None
    protocol: str | None = None
    leader_id: str | None = None
    owned: list[TopicPartitions] | None = None
    assignment: list[TopicPartitions] | None = None
    owned_tasks: MemberTasks | None = None
    tasks: MemberTasks | None = None
    statuses: list[str] = []
    members: list[GroupMember] = []
    members_left_out: int = 0


class AcknowledgedRange(Struct, frozen=True, kw_only=True):
    """Offsets that a consumer acknowledges.

    types: "accept", "release", "reject", "gap" or "renew": one for all offsets, or one for each.
    """

    first_offset: int
    last_offset: int
    types: list[str]


class AcquiredRange(Struct, frozen=True, kw_only=True):
    """Offsets in the response. delivery_count: how often they were sent to a consumer, this time included."""

    first_offset: int
    last_offset: int
    delivery_count: int


class SharePartition(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A partition of a ShareFetch or ShareAcknowledge."""

    topic: str
    partition: int
    acknowledged: list[AcknowledgedRange] = []
    acquired: list[AcquiredRange] = []
    error: str | None = None
    acknowledge_error: str | None = None
    ranges_left_out: int = 0


class ShareDetails(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A ShareFetch or ShareAcknowledge. session_epoch: of the share session."""

    group_id: str | None
    member_id: str | None
    session_epoch: int
    partitions: list[SharePartition]
    partitions_left_out: int = 0


class RequestDetails(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The details of one request: the field of its kind, and the first error.

    first_error: the first error inside the response. more_errors: how many others there are. errors: their names.
    """

    fetch: FetchDetails | None = None
    list_offsets: ListOffsetsDetails | None = None
    offsets: OffsetsDetails | None = None
    member: MemberDetails | None = None
    share: ShareDetails | None = None
    first_error: ResponseError | None = None
    more_errors: int = 0
    errors: frozenset[str] = frozenset()
