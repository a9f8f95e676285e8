"""The snapshots that a broker keeps; Broker.snapshot takes one, and Broker.restore restores it."""

from __future__ import annotations

from ..admin.operations import snapshot_operations
from ..admin.operations.snapshot_operations import SnapshotId
from ..admin.snapshots import SnapshotInfo
from ..faults.strict_json import convert
from .calls import ControlCall


class BrokerSnapshots:
    """The newest 32 snapshots."""

    def __init__(self, call: ControlCall) -> None:
        """call: runs a function on the broker's thread."""
        self._call = call

    def list(self) -> list[SnapshotInfo]:
        """Return the snapshots, oldest first."""
        return self._call(lambda control: [kept.info for kept in control.snapshots.kept.values()])

    def delete(self, snapshot_id: int) -> SnapshotInfo:
        """Delete a snapshot and return it. Raises CallError for an unknown id."""
        chosen = convert({"id": snapshot_id}, SnapshotId)
        return self._call(lambda control: snapshot_operations.remove_snapshot(control, chosen))
