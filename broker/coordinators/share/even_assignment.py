"""Assigns a set of partitions evenly to members: `sharing` members a partition, and each member its count.

1. Members keep their partitions, up to their count and up to `sharing` members a partition.
2. Members below their count take turns at the partitions with less than `sharing` members.
The results depend on the iteration order of Kafka's hash tables.
Source: SimpleHomogeneousAssignmentBuilder and the TopicAssignmentPartialBuilder of
SimpleHeterogeneousAssignmentBuilder, Kafka 4.3.0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..java_hash_tables import buckets_of_grown, buckets_of_sized, in_hash_order, int_hash

TopicPartition = tuple[bytes, int]
# The partitions of one member by topic.
Assignment = dict[bytes, set[int]]


class EvenAssignment:
    """One assignment. Members are numbers: their positions in the group."""

    def __init__(
        self,
        targets: Sequence[TopicPartition],
        members: Sequence[int],
        assignments: Sequence[Assignment],
        hash_of: Callable[[TopicPartition], int],
    ) -> None:
        """targets: the partitions to assign. members: the members that get them.

        assignments: by member, changed by `complete`. hash_of: Java's hash code of a partition.
        """
        self._targets = targets
        self._assignments = assignments
        self._hash_of = hash_of
        self._sharing = -(-len(members) // len(targets)) if targets else 0
        self._counts = _even_counts(self._sharing * len(targets), members)
        # The members of each partition and the partitions of each member, as ordered sets.
        self._members_of: dict[TopicPartition, dict[int, None]] = {}
        self._partitions_of: dict[int, dict[TopicPartition, None]] = {}

    def keep(self, member: int, partitions: Sequence[TopicPartition]) -> None:
        """Add the previous partitions of a member. Called once for each member, in order."""
        self._partitions_of[member] = dict.fromkeys(partitions)
        for partition in partitions:
            self._members_of.setdefault(partition, {})[member] = None

    def complete(self) -> None:
        """Revoke what is too much and assign what is missing."""
        # Java's sets do not shrink.
        buckets = {partition: buckets_of_grown(len(members)) for partition, members in self._members_of.items()}
        for member, partitions in self._partitions_of.items():
            self._revoke_surplus(member, partitions)
        for partition, members in self._members_of.items():
            surplus = max(0, len(members) - self._sharing)
            for member in in_hash_order(list(members), int_hash, buckets[partition])[:surplus]:
                self._revoke(member, partition)
        for partition in self._targets:
            self._members_of.setdefault(partition, {})
        self._assign_missing()

    def _revoke_surplus(self, member: int, partitions: dict[TopicPartition, None]) -> None:
        surplus = max(0, len(partitions) - self._counts.get(member, 0))
        buckets = buckets_of_grown(len(partitions))
        for partition in in_hash_order(list(partitions), self._hash_of, buckets)[:surplus]:
            self._revoke(member, partition)

    def _revoke(self, member: int, partition: TopicPartition) -> None:
        topic_id, index = partition
        del self._members_of[partition][member]
        del self._partitions_of[member][partition]
        self._assignments[member][topic_id].discard(index)

    def _assign_missing(self) -> None:
        turns = _Turns([member for member, count in self._counts.items() if len(self._partitions_of[member]) < count])
        buckets = buckets_of_sized(len(self._targets), len(self._members_of))
        # HashMap.computeIfAbsent, which adds these keys, puts a key before the other ones of its bucket.
        for partition in in_hash_order([*reversed(self._members_of)], self._hash_of, buckets):
            members = self._members_of[partition]
            missing = self._sharing - len(members)
            while missing > 0 and (member := turns.next()) is not None:
                if member in members:
                    continue
                # The partition's members are not updated, so that a member whose turn it is again takes it twice.
                self._take(member, partition)
                missing -= 1
                turns.member_took(is_filled=len(self._partitions_of[member]) >= self._counts[member])

    def _take(self, member: int, partition: TopicPartition) -> None:
        topic_id, index = partition
        self._partitions_of[member][partition] = None
        self._assignments[member].setdefault(topic_id, set()).add(index)


class _Turns:
    """The members below their count, one after the other. A round in which none took a partition is the last one."""

    def __init__(self, members: list[int]) -> None:
        self._members = members
        self._next = 0
        self._has_taken = False

    def next(self) -> int | None:
        """Return the next member, or None after the last round."""
        if self._next == len(self._members):
            if not self._has_taken or not self._members:
                return None
            self._next, self._has_taken = 0, False
        self._next += 1
        return self._members[self._next - 1]

    def member_took(self, *, is_filled: bool) -> None:
        """The member that was returned last has taken a partition. is_filled: its turns are over."""
        self._has_taken = True
        if is_filled:
            self._next -= 1
            del self._members[self._next]


def _even_counts(place_count: int, members: Sequence[int]) -> dict[int, int]:
    """Return the count of each member. They differ by one at most."""
    exact = place_count / len(members) if members else 0.0
    ends = [math.ceil(exact * number) for number in range(len(members) + 1)]
    return {member: ends[number + 1] - ends[number] for number, member in enumerate(members)}
