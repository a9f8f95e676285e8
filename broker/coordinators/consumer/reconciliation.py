"""How a member gets from what it has to what it is to have: it gives partitions up first, and gets none that is owned.

Source: CurrentAssignmentBuilder, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.stored_records.consumer_group_values import PartitionEpochs, Partitions
from .member import ConsumerMember, MemberState, merged

# Returns whether any member has that partition of that topic.
IsOwned = Callable[[bytes, int], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """What one member's next step depends on.

    subscribed_topic_ids: the topics that it consumes and that there are.
    owned: the partitions that its heartbeat says it has, None where it says nothing.
    """

    target_epoch: int
    target: Partitions
    subscribed_topic_ids: frozenset[bytes]
    has_subscription_changed: bool
    is_owned: IsOwned
    owned: Partitions | None

    def step(self, member: ConsumerMember) -> ConsumerMember:
        """Return the member after the next step, itself where it has to wait.

        Raises KafkaError FENCED_MEMBER_EPOCH for a member of whose state nothing is known.
        """
        match member.state:
            case MemberState.STABLE if member.member_epoch == self.target_epoch:
                return self._unsubscribed(member)
            case MemberState.UNREVOKED_PARTITIONS if self._still_has(member.pending_revocation):
                return self._unsubscribed(member)
            case MemberState.UNKNOWN:
                if self.owned is None or self.owned:
                    raise KafkaError(
                        ErrorCode.FENCED_MEMBER_EPOCH,
                        "The consumer group member is in a unknown state. The member must abandon all its partitions "
                        "and rejoin.",
                    )
                return self._advanced(member, self.target_epoch)
            case _:
                return self._advanced(member, member.member_epoch)

    def _still_has(self, pending_revocation: PartitionEpochs) -> bool:
        """Whether the member has not shown that it gave up all of the partitions."""
        if self.owned is None:
            return True
        return any(
            partition in pending_revocation.get(topic_id, ())
            for topic_id, partitions in self.owned.items()
            for partition in partitions
        )

    def _unsubscribed(self, member: ConsumerMember) -> ConsumerMember:
        """Return the member without the topics that it has just given up; the rest follows its target."""
        if not self.has_subscription_changed:
            return member
        dropped = {
            topic_id: epochs
            for topic_id, epochs in member.assigned.items()
            if topic_id not in self.subscribed_topic_ids
        }
        # Kafka makes a new member of one that has lost its last topic, even where that had no partitions.
        is_without_topics = not self.subscribed_topic_ids and not member.pending_revocation
        if not dropped and not is_without_topics:
            return member
        kept = {topic_id: epochs for topic_id, epochs in member.assigned.items() if topic_id not in dropped}
        pending_revocation = merged(member.pending_revocation, dropped)
        if pending_revocation and self._still_has(pending_revocation):
            state = MemberState.UNREVOKED_PARTITIONS
            return member.moved(state, member.member_epoch, kept, pending_revocation)
        return member.moved(member.state, member.member_epoch, kept, member.pending_revocation)

    def _advanced(self, member: ConsumerMember, member_epoch: int) -> ConsumerMember:
        """Return the member one step nearer to its target; member_epoch is the one it keeps while it gives up."""
        difference = self._difference(member)
        if difference.pending_revocation and self._still_has(difference.pending_revocation):
            return member.moved(
                MemberState.UNREVOKED_PARTITIONS, member_epoch, difference.kept, difference.pending_revocation
            )
        state = MemberState.UNRELEASED_PARTITIONS if difference.is_waiting else MemberState.STABLE
        return member.moved(state, self.target_epoch, merged(difference.kept, difference.new))

    def _difference(self, member: ConsumerMember) -> _Difference:
        difference = _Difference()
        for topic_id in [*self.target, *(topic_id for topic_id in member.assigned if topic_id not in self.target)]:
            is_subscribed = topic_id in self.subscribed_topic_ids
            target = self.target.get(topic_id, frozenset()) if is_subscribed else frozenset[int]()
            assigned = member.assigned.get(topic_id, {})
            wanted = sorted(target - assigned.keys())
            free = [partition for partition in wanted if self._is_free(member, topic_id, partition)]
            difference.is_waiting |= len(free) < len(wanted)
            difference.put(
                topic_id,
                kept={partition: epoch for partition, epoch in assigned.items() if partition in target},
                revoked={partition: epoch for partition, epoch in assigned.items() if partition not in target},
                new=dict.fromkeys(free, self.target_epoch),
            )
        return difference

    def _is_free(self, member: ConsumerMember, topic_id: bytes, partition: int) -> bool:
        """Whether nobody else has the partition; what the member itself was to give up it may get back."""
        return not self.is_owned(topic_id, partition) or partition in member.pending_revocation.get(topic_id, ())


@dataclass(slots=True)
class _Difference:
    """What a member keeps, gives up and gets; is_waiting: whether it is to get more, which others have yet."""

    kept: dict[bytes, Mapping[int, int]] = field(default_factory=dict[bytes, Mapping[int, int]])
    pending_revocation: dict[bytes, Mapping[int, int]] = field(default_factory=dict[bytes, Mapping[int, int]])
    new: dict[bytes, Mapping[int, int]] = field(default_factory=dict[bytes, Mapping[int, int]])
    is_waiting: bool = False

    def put(
        self, topic_id: bytes, *, kept: Mapping[int, int], revoked: Mapping[int, int], new: Mapping[int, int]
    ) -> None:
        for topics, partitions in ((self.kept, kept), (self.pending_revocation, revoked), (self.new, new)):
            if partitions:
                topics[topic_id] = partitions
