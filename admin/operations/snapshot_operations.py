"""Operations that take and restore snapshots of the cluster."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ...broker.lifecycle.cluster_snapshot import SnapshotError, restore_snapshot, take_snapshot
from ..control import Control
from ..errors import conflict
from ..operation import Operation
from ..paging import INT64_MAX, NumberPage, page_of
from ..snapshots import SnapshotInfo

TAG = "state"


class SnapshotId(Struct, kw_only=True, forbid_unknown_fields=True):
    """The id of a snapshot."""

    id: Annotated[int, Meta(ge=0, le=INT64_MAX)]


class SnapshotPage(Struct, kw_only=True):
    """Snapshots, oldest first."""

    items: list[SnapshotInfo]
    next: str | None


def snapshot(control: Control) -> SnapshotInfo:
    """Take a snapshot: logs, producers, topics, configs and committed offsets; only of a cluster in memory."""
    control.check_all_running()
    try:
        taken = take_snapshot(control.cluster)
    except SnapshotError as error:
        raise conflict(str(error)) from error
    return control.snapshots.keep(taken, control.clock.now_ms(), control.journal.first_producer_id)


def restore(control: Control, body: SnapshotId) -> SnapshotInfo:
    """Restore a snapshot; connections are closed, isolated nodes rejoin, the verdict is reset. It stays usable."""
    kept = control.snapshots.get(body.id)
    control.check_all_running()
    control.server.prepare_replacement()
    try:
        restore_snapshot(control.cluster, kept.snapshot)
    except SnapshotError as error:
        raise conflict(str(error)) from error
    # The producers that the snapshot contains are those of its own run.
    control.journal.data_reset(kept.first_producer_id)
    return kept.info


def list_snapshots(control: Control, query: NumberPage) -> SnapshotPage:
    """List the snapshots, oldest first."""
    following = (kept.info for kept in control.snapshots.kept.values() if kept.info.id > query.since)
    items, token = page_of(following, query.limit, lambda info: info, lambda info: str(info.id))
    return SnapshotPage(items=items, next=token)


def remove_snapshot(control: Control, path: SnapshotId) -> SnapshotInfo:
    """Delete a snapshot."""
    info = control.snapshots.get(path.id).info
    del control.snapshots.kept[info.id]
    return info


OPERATIONS = (
    Operation(method="POST", path="/v1/snapshot", perform=snapshot, tag=TAG, status=201, errors=(409,)),
    Operation(method="GET", path="/v1/snapshot", perform=list_snapshots, tag=TAG),
    Operation(method="DELETE", path="/v1/snapshot/{id}", perform=remove_snapshot, tag=TAG, errors=(404,)),
    Operation(method="POST", path="/v1/restore", perform=restore, tag=TAG, errors=(404, 409)),
)
