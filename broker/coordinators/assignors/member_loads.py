"""Which of a topic's subscribers has the least partitions, and which the most, one after the other.

Both go round within the members that have equally many, and take in the next ones as the count moves on: to give each
of the least loaded one partition makes all of them one more. The counts are the assignment's own, and change meanwhile.
Source: UniformHeterogeneousAssignmentBuilder.MemberAssignmentBalancer, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Sequence


class MemberLoads:
    """The subscribers of one topic by how many partitions they have of all topics."""

    def __init__(self, sizes: Sequence[int], subscribers: Sequence[int]) -> None:
        """sizes: how many partitions each member has. subscribers: the places of some members in it, at least one."""
        self._sizes = sizes
        self._members = sorted(subscribers, key=lambda member: (sizes[member], member))
        least, most = sizes[self._members[0]], sizes[self._members[-1]]
        self.imbalance = most - least
        # The least loaded ones are members[:end], and have that many partitions.
        self._least_end = 0
        self._least_count = least - 1
        self._next_least = 0
        # The most loaded ones are members[start:end]; who comes behind them is left out.
        self._most_start = self._most_end = len(self._members)
        self._most_count = most + 1
        self._next_most = len(self._members) - 1

    @property
    def is_balanced(self) -> bool:
        """Whether nothing is gained any more."""
        return self._most_count - self._least_count <= 1

    def next_least_loaded(self) -> int:
        """Return a member that has no more than any other; it is taken to get one more."""
        if self._next_least >= self._least_end:
            self._least_count += 1
            while self._least_end < len(self._members) and self._size_at(self._least_end) == self._least_count:
                self._least_end += 1
            self._next_least = 0
        member = self._members[self._next_least]
        self._next_least += 1
        return member

    def next_most_loaded(self) -> int | None:
        """Return a member that has no less than any other that is not left out, or None; it is taken to give one."""
        if self._next_most < self._most_start:
            if self._most_end <= self._most_start and self._most_start > 0:
                # All that had this many are left out.
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
        """Leave out the member that was returned last: it has no partition of the topic to give."""
        place, last = self._next_most + 1, self._most_end - 1
        self._members[place], self._members[last] = self._members[last], self._members[place]
        self._most_end -= 1

    def _size_at(self, place: int) -> int:
        return self._sizes[self._members[place]]
