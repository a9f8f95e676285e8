"""The marks of the journal: what happened to the cluster between two requests, beside what clients asked for.

- A mark names the newest request before it, so that a reader sees it at its place among the requests.
- The newest MARKS_MAX are kept. Elections that follow each other, from one node to another, are one mark until it is
  read.
- The texts of rules and groups are made by `mark_texts`, which is loaded with the first of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from .. import journal

if TYPE_CHECKING:
    from ...storage.leader_change import LeaderChange
    from ..consumption.events import GroupRecords
    from .mark_texts import MarkedRule

# More than a person looks through; each takes about 300 bytes, and more if its names are long.
MARKS_MAX = 1000
# Groups whose newest generation is known, to tell a new one.
GROUPS_MAX = 10_000

MarkKind = Literal["node", "leader", "rule", "clock", "rebalance"]


@dataclass(frozen=True, slots=True)
class Mark:
    """What happened. mark_id: counted from 1. after_id: the newest request before it. count: of the elections in it."""

    mark_id: int
    at_ms: int
    after_id: int
    kind: MarkKind
    text: str
    count: int = 1


class Marks:
    """The newest marks, oldest first."""

    def __init__(self, last_request_id: Callable[[], int], now_ms: Callable[[], int]) -> None:
        """last_request_id: returns the id of the newest request. now_ms: returns the broker's time."""
        self._last_request_id = last_request_id
        self._now_ms = now_ms
        self._marks: deque[Mark] = deque(maxlen=MARKS_MAX)
        self.last_id = 0
        # Of the newest mark that was read: it does not change any more.
        self._read_id = 0
        # Of the elections in the newest mark.
        self._last_election: tuple[int, int] | None = None
        self._generations: dict[str, int] = {}

    def add(self, kind: MarkKind, text: str) -> None:
        """Add a mark."""
        self.last_id += 1
        self._last_election = None
        self._marks.append(Mark(self.last_id, self._now_ms(), self._last_request_id(), kind, text))

    def newer_than(self, mark_id: int) -> list[Mark]:
        """Return the marks with a greater id."""
        self._read_id = self.last_id
        return [mark for mark in self._marks if mark.mark_id > mark_id]

    def leader_changed(self, change: LeaderChange) -> None:
        """Add the election of a leader, but not the first one of a partition."""
        if change.epoch_before < 0:
            return
        election = (change.node_before, change.node)
        if election == self._last_election and self.last_id > self._read_id:
            last = self._marks.pop()
            if last.after_id == self._last_request_id():
                count = last.count + 1
                first = last.text.partition(" and ")[0]
                self._marks.append(replace(last, count=count, text=f"{first} and {count - 1} more"))
                return
            self._marks.append(last)
        moved = f", before it node {change.node_before}" if change.node_before not in (-1, change.node) else ""
        self.add("leader", f"node {change.node} leads{moved}: {change.topic_name}-{change.partition}")
        self._last_election = election

    def rules_changed(self, before: Sequence[MarkedRule], after: Sequence[MarkedRule]) -> None:
        """Add what has changed in the rules for requests."""
        self._add_rules("rule", before, after)

    def file_rules_changed(self, before: Sequence[MarkedRule], after: Sequence[MarkedRule]) -> None:
        """Add what has changed in the rules for files."""
        self._add_rules("file rule", before, after)

    def _add_rules(self, noun: str, before: Sequence[MarkedRule], after: Sequence[MarkedRule]) -> None:
        text = journal.mark_texts.rules_text(noun, before, after)
        if text is not None:
            self.add("rule", text)

    def group_changed(self, appended: GroupRecords) -> None:
        """Add the new generation, or the new epoch, of a group whose coordinator has written one."""
        generation = journal.mark_texts.generation_of(appended)
        if generation is None or self._generations.get(appended.group) == generation.number:
            return
        while len(self._generations) >= GROUPS_MAX:
            del self._generations[next(iter(self._generations))]
        self._generations[appended.group] = generation.number
        self.add("rebalance", f"group {generation.group}: {generation.noun} {generation.number}")
