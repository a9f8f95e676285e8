"""What the parts of the broker report about consumers, in the order in which it happened.

An event is kept as it was reported, and is read with the next verdict or when there are many (consumption_recorder).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ...storage.deleted_records import DeletedRecords


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
    last one. request_id, last_request_id: of the first and of the last Fetch. repeats: how often the same offsets were
    sent again with nothing between.
    """

    connection: ClientConnection
    client_id: str
    topic_key: bytes
    partition: int
    first: int
    end: int
    request_id: int
    last_request_id: int
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
    """Records that a group coordinator has appended to its log. producer_id: -1 for records of no transaction."""

    group: str
    records: Sequence[tuple[bytes, bytes | None]]
    log_partition: int = 0
    producer_id: int = -1


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


Event = FetchedRange | OutOfRange | CommitRequest | GroupRecords | EndedTransaction | DeletedOffsets | TruncatedLog
