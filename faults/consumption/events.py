"""What the parts of the broker report about consumers, in the order in which it happened.

An event is kept as it was reported, and is read with the next verdict or when there are many (consumption_recorder).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ...storage.deleted_records import DeletedRecords

if TYPE_CHECKING:
    from ...protocol.stored_records.share_state_records import ShareKey


class ClientConnection(Protocol):
    """The connection of a client."""

    @property
    def connection_id(self) -> int:
        """The id of the connection."""
        ...

    @property
    def client_host(self) -> str:
        """The IP address of the client."""
        ...


class ClientRequest(Protocol):
    """The request of a client."""

    @property
    def connection(self) -> ClientConnection:
        """The connection."""
        ...

    @property
    def kept_client_id(self) -> str | None:
        """The client id."""
        ...

    @property
    def request_id(self) -> int:
        """The id in the journal; 0 if the request is not in it yet."""
        ...


class Client(NamedTuple):
    """The client by which a Fetch, which names no group, is attributed to the member of a group."""

    client_id: str
    host: str


class Offset(NamedTuple):
    """An offset of a commit."""

    topic: str
    partition: int
    offset: int


@dataclass(slots=True)
class FetchedRange:
    """Offsets of a partition that were sent to a client by one Fetch, or by several that follow each other.

    topic_key: the name or the id of the topic. first: the offset that the client asked for. end: the offset after the
    last one. request_id, last_request_id: of the first and of the last Fetch. reads_committed: whether the client reads
    committed records only. repeats: how often the same offsets were sent again with nothing between.
    """

    connection: ClientConnection
    client_id: str
    topic_key: bytes
    partition: int
    first: int
    end: int
    request_id: int
    last_request_id: int
    reads_committed: bool = False
    repeats: int = 0

    @property
    def client(self) -> Client:
        """The client."""
        return Client(self.client_id, self.connection.client_host)


@dataclass(frozen=True, slots=True)
class OutOfRange:
    """A Fetch of an offset that the log does not have."""

    connection: ClientConnection
    client_id: str
    topic_key: bytes
    partition: int
    offset: int
    request_id: int

    @property
    def client(self) -> Client:
        """The client."""
        return Client(self.client_id, self.connection.client_host)


class OffsetsAsked(NamedTuple):
    """Partitions whose committed offsets a client has asked for. After a rebalance it begins there.

    request_id: of the last request before.
    """

    client: Client
    group: str
    topic: str
    partitions: Sequence[int]
    request_id: int


@dataclass(slots=True)
class CommitRequest:
    """An OffsetCommit or TxnOffsetCommit before it is handled.

    generation: the generation or member epoch; negative if the client is not a member. error_code: of a refusal of all
    offsets, 0 without one.
    """

    connection: ClientConnection
    client_id: str
    group: str
    member_id: str
    generation: int
    offsets: Sequence[Offset]
    request_id: int = 0
    error_code: int = 0

    @property
    def client(self) -> Client:
        """The client."""
        return Client(self.client_id, self.connection.client_host)

    @property
    def is_of_member(self) -> bool:
        """Whether the client commits as a member."""
        return self.generation >= 0 and bool(self.member_id)


class GroupRecords(NamedTuple):
    """Records that a group coordinator has appended to its log.

    producer_id: -1 for records of no transaction. request_id: of the last request before them.
    """

    group: str
    records: Sequence[tuple[bytes, bytes | None]]
    log_partition: int = 0
    producer_id: int = -1
    request_id: int = 0


class LeavingMember(NamedTuple):
    """A member that leaves. An administrator names a static member by its instance id only.

    reason: as its client gives it (KIP-800), "" without one.
    """

    member_id: str
    instance_id: str | None
    reason: str


class MembersLeaving(NamedTuple):
    """Members that leave a group by a request, before it is handled."""

    group: str
    members: Sequence[LeavingMember]


class EndedTransaction(NamedTuple):
    """A transaction marker in a partition of the group coordinator's log."""

    log_partition: int
    producer_id: int
    is_commit: bool


class DeletedOffsets(NamedTuple):
    """Records that retention or DeleteRecords has deleted."""

    topic: str
    partition: int
    deleted: DeletedRecords


class TruncatedLog(NamedTuple):
    """A partition whose log ends at end_offset after a crash or an election."""

    topic: str
    partition: int
    end_offset: int


class ShareEnd(Enum):
    """What became of records that a member of a share group had acquired, or of records that none will acquire."""

    ACCEPTED = "accepted"
    RELEASED = "released"
    REJECTED = "rejected"
    # There is no record with this offset.
    GAP = "gap"
    LOCK_ENDED = "lock_ended"
    # The member left, its session ended, or its connection was closed.
    MEMBER_LEFT = "member_left"
    # Records of aborted transactions, and markers.
    SKIPPED = "skipped"
    DELETED = "deleted"


@dataclass(eq=False, slots=True)
class ShareRequest:
    """A ShareFetch or ShareAcknowledge of a member.

    is_written: whether the response was written; None while that is open. withheld: partitions that the response has
    no records of, because a fault replaced them.
    """

    connection: ClientConnection
    group: str
    member_id: str
    request_id: int = 0
    is_written: bool | None = None
    withheld: frozenset[tuple[str, int]] = frozenset()

    def is_delivered(self, place: tuple[str, int]) -> bool | None:
        """Whether the client got the records of a partition; None while that is open."""
        return False if place in self.withheld else self.is_written


class ShareStarted(NamedTuple):
    """A share partition with its first use since the broker started, lost its leadership, or reset it.

    available: the first and last offset of records that may be acquired before end_offset, which was never acquired.
    partition_count: of the topic.
    """

    key: ShareKey
    log_start: int
    available: Sequence[tuple[int, int]]
    end_offset: int
    partition_count: int


class ShareReset(NamedTuple):
    """An administrator has set the start offset of a share partition, or has deleted it."""

    key: ShareKey


class ShareAcquired(NamedTuple):
    """Records that a member has acquired: the first and last offset and the delivery count of each range."""

    request: ShareRequest
    key: ShareKey
    ranges: Sequence[tuple[int, int, int]]


class ShareChange(NamedTuple):
    """What became of records. is_archived: they reached the limit of deliveries in place of being available again.

    delivery_count: how often they were delivered; 0 if that is not counted.
    """

    first: int
    last: int
    end: ShareEnd
    is_archived: bool = False
    delivery_count: int = 0


class ShareChanged(NamedTuple):
    """Changes of records of a share partition. Those by acknowledgement belong to the last ShareRequest before."""

    key: ShareKey
    changes: Sequence[ShareChange]


class ShareRefused(NamedTuple):
    """Acknowledgements of a member that were refused: the first and last offset of each."""

    request: ShareRequest
    key: ShareKey
    ranges: Sequence[tuple[int, int]]
    error_code: int


ShareEvent = ShareRequest | ShareStarted | ShareReset | ShareAcquired | ShareChanged | ShareRefused
LogEvent = DeletedOffsets | TruncatedLog
Event = (
    FetchedRange
    | OutOfRange
    | OffsetsAsked
    | CommitRequest
    | GroupRecords
    | MembersLeaving
    | EndedTransaction
    | LogEvent
    | ShareEvent
)
