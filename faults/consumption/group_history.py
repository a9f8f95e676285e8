"""One group: its members with their partitions, and the history of each partition.

- A member has a partition from the record of its assignment on, until another member gets it or the member is gone.
- The Fetch of a client belongs to the member that has the partition, if the client is the same. Members may have the
  same client: then the connection decides, which belongs to the member that used it first.
- A client whose member is gone and that fetches as a new member over the same connection has joined again. Over another
  connection it has restarted.
- A member that is gone has left, if it asked for that before. If not, the coordinator has removed it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from .delivered_spans import Membership
from .events import Client, CommitRequest, FetchedRange, LeavingMember, OutOfRange
from .partition_history import PartitionHistory
from .receivers import Receiver
from .share_history import ShareHistory

TopicPartition = tuple[str, int]

NOTHING_DELETED: Mapping[TopicPartition, int] = MappingProxyType({})
NO_PARTITIONS: frozenset[TopicPartition] = frozenset()
# Members that have left, and connections of members, that are kept.
FORMER_MAX = 1000
CONNECTIONS_MAX = 10_000
# Of the reason for which a member leaves. Kafka's clients cut theirs to as many.
REASON_CHARACTERS_MAX = 255


@dataclass(frozen=True, slots=True)
class Member:
    """A member.

    joined, left: when it joined and left, counted in changes of the group; left is None until then.
    leave_reason: for which it asked to leave, "" without one (KIP-800); None if the coordinator has removed it.
    """

    member_id: str
    client: Client
    instance_id: str | None = None
    partitions: frozenset[TopicPartition] = NO_PARTITIONS
    joined: int = 0
    left: int | None = None
    leave_reason: str | None = None

    @property
    def membership(self) -> Membership:
        """The member and when it joined."""
        return self.member_id, self.joined


class GroupHistory:
    """One group.

    members: the present ones by id. partitions: those that were delivered, committed or assigned.
    shares: the partitions of a share group. share_topics: how many partitions its topics had when it first used them.
    inputs: the topics that each subtopology of a streams group reads, by its id.
    same_client: groups with a member of the same client, to which the same deliveries are counted.
    recreated_topics: those that were deleted and created again after the group had got records of them.
    """

    __slots__ = (
        "_clients",
        "_connections",
        "_first_assigned",
        "_first_ids",
        "_former",
        "_last_owners",
        "_leaving",
        "_log_starts",
        "_owners",
        "_turn",
        "generation",
        "had_members",
        "inputs",
        "members",
        "partitions",
        "recreated_topics",
        "same_client",
        "share_topics",
        "shares",
    )

    def __init__(self, log_starts: Mapping[TopicPartition, int] = NOTHING_DELETED) -> None:
        """Start without members. log_starts: where the logs begin of which records were deleted."""
        self._log_starts = log_starts
        self.members: dict[str, Member] = {}
        self.partitions: dict[TopicPartition, PartitionHistory] = {}
        self.same_client: dict[str, Client] = {}
        self.recreated_topics: set[str] = set()
        self.shares: dict[TopicPartition, ShareHistory] = {}
        self.share_topics: dict[str, int] = {}
        self.inputs: Mapping[str, Collection[str]] = {}
        self.had_members = False
        self.generation = -1
        self._former: dict[Membership, Member] = {}
        # The reasons of members that have asked to leave, by member id.
        self._leaving: dict[str, str] = {}
        self._owners: dict[TopicPartition, str] = {}
        self._last_owners: dict[TopicPartition, str] = {}
        # The members of connections, by connection id.
        self._connections: dict[int, str] = {}
        # The first member id of each client that has joined again, by its later ones.
        self._first_ids: dict[str, str] = {}
        # The partitions of each topic when it was first assigned.
        self._first_assigned: dict[str, frozenset[int]] = {}
        # The clients by which members commit, where it is another one than that of their record.
        self._clients: dict[str, Client] = {}
        self._turn = 0

    def partition(self, place: TopicPartition) -> PartitionHistory:
        """Return the history of a partition."""
        history = self.partitions.get(place)
        if history is None:
            history = self.partitions[place] = PartitionHistory(self._log_starts.get(place, 0))
            first = self._first_assigned.get(place[0])
            history.is_seen_late = first is not None and place[1] not in first
        return history

    def recreate_topic(self, topic: str) -> None:
        """Replace the histories of a topic, because it is a new one of that name."""
        self._first_assigned.pop(topic, None)
        self.share_topics.pop(topic, None)
        earlier = {place: each for place, each in self.partitions.items() if place[0] == topic}
        if any(each.delivered.end is not None for each in earlier.values()):
            self.recreated_topics.add(topic)
        self.partitions.update({place: each.recreated() for place, each in earlier.items()})
        self.shares = {place: each for place, each in self.shares.items() if place[0] != topic}

    # -- members

    def set_members(self, members: Mapping[str, Member], request_id: int, *, assigns_again: bool) -> None:
        """Take the members after a change.

        request_id: of the last request before.
        assigns_again: all partitions are assigned again, as by a new generation.
        """
        self._turn += 1
        self.had_members = self.had_members or bool(members)
        for member_id, member in self.members.items():
            if member_id not in members:
                reason = self._leaving.pop(member_id, None)
                self._former[member.membership] = replace(member, left=self._turn, leave_reason=reason)
        while len(self._former) > FORMER_MAX:
            del self._former[next(iter(self._former))]
        self.members = {
            member_id: replace(
                member,
                joined=before.joined if before is not None else self._turn,
                client=self._clients.get(member_id, member.client),
            )
            for member_id, member in members.items()
            for before in [self.members.get(member_id)]
        }
        self._note_first_assigned()
        owners = {place: each.member_id for each in self.members.values() for place in each.partitions}
        for place, owner in owners.items():
            if assigns_again or self._owners.get(place) != owner:
                self.partition(place).assigned(request_id)
        self._last_owners.update(self._owners)
        self._owners = owners

    def note_leaving(self, leaving: Iterable[LeavingMember]) -> None:
        """Note members that have asked to leave. Their records follow, of a classic group with the next generation."""
        for each in leaving:
            member_id = each.member_id or self._find_instance(each.instance_id)
            if member_id in self.members:
                self._leaving[member_id] = each.reason[:REASON_CHARACTERS_MAX]

    def _find_instance(self, instance_id: str | None) -> str:
        """Return the id of a static member; "" if there is none."""
        found = (each.member_id for each in self.members.values() if each.instance_id == instance_id is not None)
        return next(found, "")

    def note_client(self, member_id: str, client: Client) -> bool:
        """Take the client by which a member commits. Return whether the record of the member has another one.

        A static member keeps the client of its first record after a restart with another client id, as in Kafka.
        """
        member = self.members.get(member_id)
        if member is None or member.client == client:
            return False
        self._clients = {each: known for each, known in self._clients.items() if each in self.members}
        self._clients[member_id] = client
        self.members[member_id] = replace(member, client=client)
        return True

    def _note_first_assigned(self) -> None:
        assigned: dict[str, set[int]] = {}
        for member in self.members.values():
            for topic, partition in member.partitions:
                assigned.setdefault(topic, set()).add(partition)
        for topic, partitions in assigned.items():
            self._first_assigned.setdefault(topic, frozenset(partitions))

    def find_owner(self, place: TopicPartition) -> Member | None:
        """Return the member that has the partition; None without one."""
        return self.members.get(self._owners.get(place, ""))

    # -- receivers

    def find_receiver(self, fetched: FetchedRange | OutOfRange, place: TopicPartition) -> Member | None:
        """Return the member to which a Fetch belongs; None if there is none of its client with this partition."""
        client, connection_id = fetched.client, fetched.connection.connection_id
        bound = self.members.get(self._connections.get(connection_id, ""))
        if bound is not None and bound.client == client and self._knows(bound, place):
            return bound
        for member_id in (self._owners.get(place), self._last_owners.get(place)):
            member = self._find(member_id)
            if member is not None and member.client == client:
                return member
        return None

    def bind(self, connection_id: int, member: Member) -> None:
        """Note that a connection is the member's."""
        if len(self._connections) >= CONNECTIONS_MAX:
            del self._connections[next(iter(self._connections))]
        bound = self._connections.get(connection_id, member.member_id)
        earlier = None if bound == member.member_id else self._find_former(bound)
        if earlier is not None and _is_restarted(earlier, member):
            kept = {*self.members, *(each.member_id for each in self._former.values())}
            known = {each: first for each, first in self._first_ids.items() if each in kept}
            self._first_ids = known | {member.member_id: self._first_id_of(earlier.member_id)}
        self._connections[connection_id] = member.member_id

    def _first_id_of(self, member_id: str) -> str:
        return self._first_ids.get(member_id, member_id)

    def is_bound(self, connection_id: int) -> bool:
        """Whether the connection is that of a member."""
        return self._connections.get(connection_id, "") in self.members

    def _knows(self, member: Member, place: TopicPartition) -> bool:
        """Whether a member has the partition, or had it before another one got it."""
        return member.member_id in (self._owners.get(place), self._last_owners.get(place))

    def _find(self, member_id: str | None) -> Member | None:
        return None if member_id is None else self.members.get(member_id) or self._find_former(member_id)

    def _find_former(self, member_id: str | None) -> Member | None:
        """Return a member as it left last."""
        return next((each for each in reversed(self._former.values()) if each.member_id == member_id), None)

    def receiver(self, member: Member) -> Receiver:
        """Return a member as a receiver, with the former members in whose place it is."""
        earlier = [each for each in self._former.values() if _is_restarted(each, member)]
        first_id = self._first_id_of(member.member_id)
        return Receiver(
            member.member_id,
            is_present=member.member_id in self.members,
            joined=member.joined,
            restarted_from={each.membership for each in earlier},
            rejoined_from={
                each.membership: each.leave_reason for each in earlier if self._first_id_of(each.member_id) == first_id
            },
        )

    # -- events

    def commit(self, commit: CommitRequest | None, place: TopicPartition, offset: int, *, is_consumer: bool) -> None:
        """Note a committed offset. commit: its request; None for one of the admin API."""
        history = self.partition(place)
        receiver = Receiver("" if commit is None else committer_of(commit), is_member=is_consumer)
        request_id = 0 if commit is None else commit.request_id
        owner = self.find_owner(place)
        if commit is not None and commit.is_of_member and owner is not None and owner.member_id != commit.member_id:
            history.stale_commit(receiver, offset, request_id, error_code=0, owner=owner.member_id)
        history.committed_by(receiver, offset, request_id, is_consumer=is_consumer)

    def refused(self, commit: CommitRequest) -> None:
        """Note a commit that was refused because its member is not, or no longer, one of the group."""
        for each in commit.offsets:
            place = (each.topic, each.partition)
            owner = self.find_owner(place)
            self.partition(place).stale_commit(
                Receiver(committer_of(commit)),
                each.offset,
                commit.request_id,
                error_code=commit.error_code,
                owner="" if owner is None else owner.member_id,
            )

    def reads_committed(self, place: TopicPartition) -> bool:
        """Whether the group reads committed records only, by its last fetch of the partition, or else of others."""
        own = self.partitions[place].reads_committed
        return own if own is not None else all(each.reads_committed is not False for each in self.partitions.values())

    def has_received(self, receiver: str, topics: Collection[str]) -> bool:
        """Whether a receiver got records of one of the topics."""
        return any(
            topic in topics and history.has_received(receiver) for (topic, _), history in self.partitions.items()
        )


def committer_of(commit: CommitRequest) -> str:
    """Return the name of the client of a commit, as a receiver has it."""
    return commit.member_id if commit.is_of_member else client_name(commit.client)


def client_name(client: Client) -> str:
    """Return the name of a client that is no member."""
    return f"{client.client_id or 'a client without id'} at {client.host}"


def _is_restarted(former: Member, member: Member) -> bool:
    """Whether a member is a former one after a restart: of the same instance, or of the same client after that left."""
    if former.instance_id is not None and former.instance_id == member.instance_id:
        return True
    return former.client == member.client and former.left is not None and member.joined >= former.left
