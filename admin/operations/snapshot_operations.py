"""The state of the whole cluster, kept, and gone back to as often as wanted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta, Struct

from ...broker.lifecycle.cluster_snapshot import ClusterSnapshot, SnapshotError, restore_snapshot, take_snapshot
from ..control import Control
from ..errors import conflict, unknown
from ..operation import Operation
from ..paging import INT64_MAX, NumberPage, page_of

TAG = "state"

# Each holds all that was stored then; of more than these the oldest is given up.
SNAPSHOTS_MAX = 32


class SnapshotId(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which snapshot."""

    id: Annotated[int, Meta(ge=0, le=INT64_MAX)]


class ToldSnapshot(Struct, kw_only=True):
    """A snapshot; at_ms: by the broker's clock."""

    id: int
    at_ms: int
    topics: int


class SnapshotPage(Struct, kw_only=True):
    """Snapshots, oldest first."""

    items: list[ToldSnapshot]
    next: str | None


@dataclass(frozen=True, slots=True)
class KeptSnapshot:
    """A snapshot, and what is told of it."""

    snapshot: ClusterSnapshot
    told: ToldSnapshot


class Snapshots:
    """Those that are kept, by id."""

    def __init__(self) -> None:
        """Keep none."""
        self.kept: dict[int, KeptSnapshot] = {}
        self._last_id = 0

    def keep(self, snapshot: ClusterSnapshot, at_ms: int) -> ToldSnapshot:
        """Keep one more, and give up the oldest if they are too many."""
        self._last_id += 1
        told = ToldSnapshot(id=self._last_id, at_ms=at_ms, topics=len(snapshot.metadata.topics))
        self.kept[self._last_id] = KeptSnapshot(snapshot, told)
        while len(self.kept) > SNAPSHOTS_MAX:
            del self.kept[next(iter(self.kept))]
        return told

    def find(self, snapshot_id: int) -> KeptSnapshot:
        """Return it; raises CallError 404."""
        kept = self.kept.get(snapshot_id)
        if kept is None:
            raise unknown("snapshot", snapshot_id)
        return kept


def snapshot(control: Control) -> ToldSnapshot:
    """Keep the state of the cluster: logs, producers, topics, configs and committed offsets; only one in memory."""
    _check_running(control)
    try:
        return control.snapshots.keep(take_snapshot(control.cluster), control.clock.now_ms())
    except SnapshotError as error:
        raise conflict(str(error)) from error


def restore(control: Control, body: SnapshotId) -> ToldSnapshot:
    """Go back to a snapshot, as often as wanted; connections are closed, and the verdict begins anew."""
    kept = control.snapshots.find(body.id)
    _check_running(control)
    topics = set(control.cluster.image.topics)
    # Nothing that waits is to be answered by what is there afterwards.
    control.server.lift_faults()
    control.server.abort_connections()
    try:
        restore_snapshot(control.cluster, kept.snapshot)
    except SnapshotError as error:
        raise conflict(str(error)) from error
    for topic in topics | set(control.cluster.image.topics):
        control.journal.forget_topic(topic)
    return kept.told


def list_snapshots(control: Control, query: NumberPage) -> SnapshotPage:
    """List the snapshots that are kept."""
    behind = (kept.told for kept in control.snapshots.kept.values() if kept.told.id > query.since)
    items, token = page_of(behind, query.limit, lambda told: told, lambda told: str(told.id))
    return SnapshotPage(items=items, next=token)


def remove_snapshot(control: Control, path: SnapshotId) -> ToldSnapshot:
    """Give up a snapshot."""
    told = control.snapshots.find(path.id).told
    del control.snapshots.kept[told.id]
    return told


def _check_running(control: Control) -> None:
    if not control.is_running:
        raise conflict("the node is down; POST /v1/restart starts it")


OPERATIONS = (
    Operation(method="POST", path="/v1/snapshot", perform=snapshot, tag=TAG, status=201, errors=(409,)),
    Operation(method="GET", path="/v1/snapshot", perform=list_snapshots, tag=TAG),
    Operation(method="DELETE", path="/v1/snapshot/{id}", perform=remove_snapshot, tag=TAG, errors=(404,)),
    Operation(method="POST", path="/v1/restore", perform=restore, tag=TAG, errors=(404, 409)),
)
