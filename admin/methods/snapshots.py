"""The snapshots that a broker keeps; `snapshot` of the broker takes one, and `restore` restores it."""

from __future__ import annotations

from ...faults.strict_json import convert
from ..operations import snapshot_operations
from ..operations.snapshot_operations import SnapshotId
from ..paging import NumberPage
from ..snapshots import SnapshotInfo
from .base import Methods

# Within the class, `list` is the method.
SnapshotItems = list[SnapshotInfo]


class BrokerSnapshots(Methods):
    """The newest 32 snapshots."""

    def list(self) -> SnapshotItems:
        """Return the snapshots, oldest first."""
        return self._all(snapshot_operations.list_snapshots, NumberPage())

    def delete(self, snapshot_id: int) -> SnapshotInfo:
        """Delete a snapshot and return it. Raises CallError for an unknown id."""
        return self._perform(snapshot_operations.remove_snapshot, path=convert({"id": snapshot_id}, SnapshotId))
