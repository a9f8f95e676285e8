"""The operation that lists the marks of the journal."""

from __future__ import annotations

from msgspec import Struct

from ...faults.journal.marks import Mark, MarkKind
from ..control import Control
from ..operation import Operation
from ..paging import NumberPage, page_of

TAG = "truth"


class MarkInfo(Struct, frozen=True, kw_only=True):
    """What happened to the cluster between two requests.

    kind: `node` (killed, stopped, started, isolated, rejoined), `leader` (elections), `rule` (added, replaced,
    removed), `clock` (moved) or `rebalance` (a new generation or epoch of a group).
    after_id: of the newest request before it.
    """

    id: int
    at_ms: int
    after_id: int
    kind: MarkKind
    text: str


class MarkPage(Struct, kw_only=True):
    """Marks, oldest first."""

    items: list[MarkInfo]
    next: str | None = None


def list_marks(control: Control, query: NumberPage) -> MarkPage:
    """List what happened to the cluster between the requests: the newest 1,000 marks since the journal was cleared."""
    cleared_id = control.journal.cleared_id
    found = [mark for mark in control.marks.newer_than(query.since) if mark.after_id >= cleared_id]
    items, token = page_of(found, query.limit, mark_info, lambda mark: str(mark.mark_id))
    return MarkPage(items=items, next=token)


def mark_info(mark: Mark) -> MarkInfo:
    """Return the model of a mark."""
    return MarkInfo(id=mark.mark_id, at_ms=mark.at_ms, after_id=mark.after_id, kind=mark.kind, text=mark.text)


OPERATIONS = (Operation(method="GET", path="/v1/marks", perform=list_marks, tag=TAG),)
