"""Where the logs of a cluster are on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageOptions:
    """Where the logs are.

    data_dir: the data folder; None keeps everything in memory.
    import_logs: folders of partition folders to import, one for each node; nothing is written there.
    cluster_id: the id of a new cluster. An existing data folder must have the same id.
    racks: of each node, of which there is at least one. Several nodes have a folder each in the data folder.
    """

    data_dir: str | None = None
    import_logs: Sequence[str] = ()
    cluster_id: str | None = None
    racks: Sequence[str | None] = (None,)

    @property
    def is_in_memory(self) -> bool:
        """Whether there is nothing on disk."""
        return self.data_dir is None and not self.import_logs
