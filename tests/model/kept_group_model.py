"""Model of the state of one classic group that a crash preserves.

The group is restored as it last was stable or empty, because a generation is written with its assignment or when it has
no members. Offsets are written at once. Those of a transaction are committed by its end, except after a later commit.
"""

from dataclasses import dataclass, field

Members = dict[str, bytes]


@dataclass(frozen=True)
class Seen:
    """A group in DescribeGroups: state, protocol, and members with their assignments."""

    state: str
    protocol: str
    members: tuple[tuple[str, bytes], ...]

    @property
    def is_kept(self) -> bool:
        """Whether the group is restored so after a crash."""
        return self.state in ("Stable", "Empty", "Dead")


DEAD = Seen("Dead", "", ())
EMPTY = Seen("Empty", "", ())


@dataclass
class KeptGroupModel:
    """One group, with offsets for partition 0 of topics."""

    group: Seen = DEAD
    # A group that a commit created has no record of its own until it is stable, or empty again.
    is_written: bool = False
    last_seen: Seen = DEAD
    offsets: dict[str, int] = field(default_factory=dict[str, int])
    # For each producer and topic: the pending offset, and its number among all commits.
    pending: dict[int, dict[str, tuple[int, int]]] = field(default_factory=dict[int, dict[str, tuple[int, int]]])
    last_commit: dict[str, int] = field(default_factory=dict[str, int])
    commit_count: int = 0

    def see(self, seen: Seen) -> None:
        """Update the model with the present group."""
        if seen.is_kept:
            self.group = seen
        elif self.group == DEAD:
            # A new group is written before the assignment of its first member.
            self.group = EMPTY
            self.is_written = True
        if seen.state == "Stable" or (seen.state == "Empty" and not self.last_seen.is_kept):
            self.is_written = True
        elif seen == DEAD:
            self.is_written = False
        self.last_seen = seen

    def is_restored_as(self, seen: Seen) -> bool:
        """Update the model with the group after a crash, and return whether it is allowed."""
        self.last_seen = seen
        has_offsets = bool(self.offsets) or any(self.pending.values())
        if self.group == EMPTY and not self.is_written and not has_offsets:
            # The log cleaner may have removed the offsets that created the group.
            return seen in (EMPTY, DEAD)
        return seen == self.group

    def commit(self, topic: str, offset: int) -> None:
        """Apply an accepted commit."""
        self.offsets[topic] = offset
        self.last_commit[topic] = self._count()

    def commit_pending(self, producer: int, topic: str, offset: int) -> None:
        """Apply an accepted commit of a transaction."""
        self.pending.setdefault(producer, {})[topic] = (offset, self._count())

    def end_transaction(self, producer: int, *, is_commit: bool) -> None:
        """Apply the end of a transaction."""
        for topic, (offset, count) in self.pending.pop(producer, {}).items():
            if is_commit and count > self.last_commit.get(topic, 0):
                self.offsets[topic] = offset
                self.last_commit[topic] = count

    def forget(self, topic: str) -> None:
        """Delete the offset of a topic."""
        self.offsets.pop(topic, None)
        self.last_commit.pop(topic, None)
        for offsets in self.pending.values():
            offsets.pop(topic, None)

    def forget_all(self) -> None:
        """Delete all offsets with their group."""
        for topic in {*self.offsets, *(topic for offsets in self.pending.values() for topic in offsets)}:
            self.forget(topic)

    def _count(self) -> int:
        self.commit_count += 1
        return self.commit_count
