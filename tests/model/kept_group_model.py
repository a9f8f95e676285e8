"""What of one classic group outlasts a crash, in plain words.

The group: as it was when it last was stable or empty, for a generation is written when its members have their parts, or
when the last one has gone. The offsets: all of them, at once. Those of open transactions count from the transaction's
commit on, unless something else was committed since.
"""

from dataclasses import dataclass, field

Members = dict[str, bytes]


@dataclass(frozen=True)
class Seen:
    """What an administrator sees of a group: state, protocol, members with their parts."""

    state: str
    protocol: str
    members: tuple[tuple[str, bytes], ...]

    @property
    def is_kept(self) -> bool:
        """Whether this is what is known again after a crash."""
        return self.state in ("Stable", "Empty", "Dead")


DEAD = Seen("Dead", "", ())
EMPTY = Seen("Empty", "", ())


@dataclass
class KeptGroupModel:
    """One group; offsets are for partition 0 of topics."""

    group: Seen = DEAD
    # A group that commits have made is known by its offsets only, until it was stable, or empty again.
    is_written: bool = False
    last_seen: Seen = DEAD
    offsets: dict[str, int] = field(default_factory=dict[str, int])
    # By producer: what it has committed for a topic, and how many commits there had been before.
    pending: dict[int, dict[str, tuple[int, int]]] = field(default_factory=dict[int, dict[str, tuple[int, int]]])
    last_commit: dict[str, int] = field(default_factory=dict[str, int])
    commit_count: int = 0

    def see(self, seen: Seen) -> None:
        """Take in what the group is now."""
        if seen.is_kept:
            self.group = seen
        elif self.group == DEAD:
            # That there is such a group is written before its first member has its part.
            self.group = EMPTY
            self.is_written = True
        if seen.state == "Stable" or (seen.state == "Empty" and not self.last_seen.is_kept):
            self.is_written = True
        elif seen == DEAD:
            self.is_written = False
        self.last_seen = seen

    def is_known_as(self, seen: Seen) -> bool:
        """Take in what is known of the group after a crash, and return whether that may be."""
        self.last_seen = seen
        has_offsets = bool(self.offsets) or any(self.pending.values())
        if self.group == EMPTY and not self.is_written and not has_offsets:
            # What has made it may have been cleaned away.
            return seen in (EMPTY, DEAD)
        return seen == self.group

    def commit(self, topic: str, offset: int) -> None:
        """A commit was accepted."""
        self.offsets[topic] = offset
        self.last_commit[topic] = self._count()

    def commit_pending(self, producer: int, topic: str, offset: int) -> None:
        """A commit was accepted as part of a transaction."""
        self.pending.setdefault(producer, {})[topic] = (offset, self._count())

    def end_transaction(self, producer: int, *, is_commit: bool) -> None:
        """A transaction has ended."""
        for topic, (offset, count) in self.pending.pop(producer, {}).items():
            if is_commit and count > self.last_commit.get(topic, 0):
                self.offsets[topic] = offset
                self.last_commit[topic] = count

    def forget(self, topic: str) -> None:
        """An offset was deleted, or expired with its topic or group."""
        self.offsets.pop(topic, None)
        self.last_commit.pop(topic, None)
        for offsets in self.pending.values():
            offsets.pop(topic, None)

    def forget_all(self) -> None:
        """The group was deleted."""
        for topic in {*self.offsets, *(topic for offsets in self.pending.values() for topic in offsets)}:
            self.forget(topic)

    def _count(self) -> int:
        self.commit_count += 1
        return self.commit_count
