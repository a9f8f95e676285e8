"""The snapshots that a broker keeps; `snapshot` of the broker takes one, and `restore` restores it.

Made of admin/methods/snapshots.py by tools/async_methods.py: change that one.
"""

from __future__ import annotations

from ...faults.strict_json import convert
from ..methods.snapshots import SnapshotItems
from ..operations import snapshot_operations
from ..operations.snapshot_operations import SnapshotId
from ..paging import NumberPage
from ..snapshots import SnapshotInfo
from .base import AsyncMethods


class AsyncBrokerSnapshots(AsyncMethods):
    """The newest 32 snapshots."""

    async def list(self) -> SnapshotItems:
        """Return the snapshots, oldest first."""
        return await self._all(snapshot_operations.list_snapshots, NumberPage())

    async def delete(self, snapshot_id: int) -> SnapshotInfo:
        """Delete a snapshot and return it. Raises CallError for an unknown id."""
        return await self._perform(snapshot_operations.remove_snapshot, path=convert({"id": snapshot_id}, SnapshotId))
