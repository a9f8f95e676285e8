"""Where the logs of a cluster are on disk."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

# The folder for exports over HTTP: in the data folder or in the working directory, which can be the same folder.
EXPORTS_FOLDER = "exports"
# The folder of the controller of several nodes, beside those of the nodes.
CONTROLLER_FOLDER = "controller"


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
    def metadata_dir(self) -> str | None:
        """The folder of the cluster's metadata, that of the controller of several nodes; None without a data folder."""
        if self.data_dir is None or len(self.racks) == 1:
            return self.data_dir
        return os.path.join(self.data_dir, CONTROLLER_FOLDER)

    @property
    def is_in_memory(self) -> bool:
        """Whether there is nothing on disk."""
        return self.data_dir is None and not self.import_logs
