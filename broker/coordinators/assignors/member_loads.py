"""The subscribers of a topic by load: the least loaded and the most loaded member, one after the other.

Two groups of members are maintained: those with the least and those with the most partitions. Each call returns the
next member of a group. After the last one, the group's partition count changes by one, and members with that count
join the group. The caller moves the partitions, and thereby changes the counts that this module reads.
Source: UniformHeterogeneousAssignmentBuilder.MemberAssignmentBalancer, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Sequence


class MemberLoads:
    """The subscribers of one topic, sorted by the number of their partitions of all topics."""

    def __init__(self, sizes: Sequence[int], subscribers: Sequence[int]) -> None:
        """sizes: the partition count of each member. subscribers: the indexes of some members, not empty."""
        self._sizes = sizes
        self._members = sorted(subscribers, key=lambda member: (sizes[member], member))
        least, most = sizes[self._members[0]], sizes[self._members[-1]]
        self.imbalance = most - least
        # The least loaded members are _members[:_least_end]. They have _least_count partitions.
        self._least_end = 0
        self._least_count = least - 1
        self._next_least = 0
        # The most loaded members are _members[_most_start:_most_end]. Later members are excluded.
        self._most_start = self._most_end = len(self._members)
        self._most_count = most + 1
        self._next_most = len(self._members) - 1

    @property
    def is_balanced(self) -> bool:
        """Whether no move can make the loads more even."""
        return self._most_count - self._least_count <= 1

    def next_least_loaded(self) -> int:
        """Return a member with the least partitions. The caller assigns one more partition to it."""
        if self._next_least >= self._least_end:
            self._least_count += 1
            while self._least_end < len(self._members) and self._size_at(self._least_end) == self._least_count:
                self._least_end += 1
            self._next_least = 0
        member = self._members[self._next_least]
        self._next_least += 1
        return member

    def next_most_loaded(self) -> int | None:
        """Return a member with the most partitions, or None if all are excluded. The caller takes one from it."""
        if self._next_most < self._most_start:
            if self._most_end <= self._most_start and self._most_start > 0:
                # All members of the group are excluded.
                self._most_count = self._size_at(self._most_start - 1)
            else:
                self._most_count -= 1
            while self._most_start > 0 and self._size_at(self._most_start - 1) == self._most_count:
                self._most_start -= 1
            self._next_most = self._most_end - 1
        if self._next_most < 0:
            return None
        member = self._members[self._next_most]
        self._next_most -= 1
        return member

    def exclude_most_loaded(self) -> None:
        """Exclude the member that was returned last, because it has no partition of the topic."""
        index, last = self._next_most + 1, self._most_end - 1
        self._members[index], self._members[last] = self._members[last], self._members[index]
        self._most_end -= 1

    def _size_at(self, index: int) -> int:
        return self._sizes[self._members[index]]
