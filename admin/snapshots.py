"""Snapshots of the cluster that the admin API keeps in memory, by id."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import Struct

from ..broker.lifecycle.cluster_snapshot import ClusterSnapshot
from .errors import unknown

# Each snapshot holds everything that was stored then. Beyond this number the oldest is deleted.
SNAPSHOTS_MAX = 32


class SnapshotInfo(Struct, kw_only=True):
    """A snapshot. at_ms: on the broker's clock. topics: the number of topics."""

    id: int
    at_ms: int
    topics: int


@dataclass(frozen=True, slots=True)
class KeptSnapshot:
    """A snapshot with its description. first_producer_id: of the journal when it was taken."""

    snapshot: ClusterSnapshot
    first_producer_id: int
    info: SnapshotInfo


class Snapshots:
    """The newest SNAPSHOTS_MAX snapshots by id."""

    def __init__(self) -> None:
        """Start without snapshots."""
        self.kept: dict[int, KeptSnapshot] = {}
        self._last_id = 0

    def keep(self, snapshot: ClusterSnapshot, at_ms: int, first_producer_id: int) -> SnapshotInfo:
        """Keep a snapshot under a new id; delete the oldest beyond SNAPSHOTS_MAX."""
        self._last_id += 1
        info = SnapshotInfo(id=self._last_id, at_ms=at_ms, topics=len(snapshot.metadata.topics))
        self.kept[self._last_id] = KeptSnapshot(snapshot, first_producer_id, info)
        while len(self.kept) > SNAPSHOTS_MAX:
            del self.kept[next(iter(self.kept))]
        return info

    def get(self, snapshot_id: int) -> KeptSnapshot:
        """Return the snapshot. Raises CallError 404 for an unknown id."""
        kept = self.kept.get(snapshot_id)
        if kept is None:
            raise unknown("snapshot", snapshot_id)
        return kept
