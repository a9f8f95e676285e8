"""The data folder of several nodes: a folder for each node, node-1 and so on, and one for the controller.

Each folder is one of data_directory, with its lock and its meta.properties; Kafka's tools read those of the nodes. The
metadata of the cluster is in the controller's alone. A folder that one node has used is refused, and so is that of
another number of nodes, before anything is written. The folders of a first start that was interrupted are completed.
"""

from __future__ import annotations

import os
import re
from contextlib import ExitStack

from ...storage.file_systems.path_problems import find_path_problem
from ..metadata.metadata_fields import METADATA_FILE
from .data_directory import DataDirectory, DataDirectoryError, NodeIdentity
from .metadata_files import BROKEN_METADATA_FILE, METADATA_COPY
from .storage_options import CONTROLLER_FOLDER, EXPORTS_FOLDER

_NODE_FOLDER = re.compile(r"node-([0-9]+)")
_METADATA_FILES = {METADATA_FILE, METADATA_COPY, BROKEN_METADATA_FILE}
# What the folder may have beside those of the nodes; mkfs makes the last one.
_OTHERS = {CONTROLLER_FOLDER, EXPORTS_FOLDER, "lost+found"}


class NodeDirectories:
    """The data folders of several nodes, locked until `close`.

    folder: the one that has them all. nodes: in the order of their ids.
    """

    def __init__(self, folder: str, first_node_id: int, node_count: int, cluster_id: str | None) -> None:
        """Create the folders if necessary, and lock them. Raises DataDirectoryError.

        cluster_id: None accepts that of the folder, or creates one.
        """
        self.folder = folder = os.path.abspath(folder)
        node_ids = range(first_node_id, first_node_id + node_count)
        try:
            os.makedirs(folder, exist_ok=True)
            _check_content(folder, node_ids)
        except OSError as error:
            problem = find_path_problem(folder, error)
            raise DataDirectoryError(problem or f"cannot use {folder}: {error.strerror}") from error
        with ExitStack() as opened:
            # As in Kafka, the id of a controller is none of the brokers'.
            identity = NodeIdentity(node_ids.stop, cluster_id)
            self.controller = DataDirectory(os.path.join(folder, CONTROLLER_FOLDER), identity)
            opened.callback(self.controller.close)
            self.nodes: list[DataDirectory] = []
            for node_id in node_ids:
                identity = NodeIdentity(node_id, self.controller.cluster_id)
                self.nodes.append(DataDirectory(os.path.join(folder, node_folder(node_id)), identity))
                opened.callback(self.nodes[-1].close)
            self._opened = opened.pop_all()

    def close(self) -> None:
        """Unlock the folders for other processes."""
        self._opened.close()


def node_folder(node_id: int | str) -> str:
    """Return the name of a node's folder. node_id: "*" for a pattern of all."""
    return f"node-{node_id}"


def _check_content(folder: str, node_ids: range) -> None:
    """Raise DataDirectoryError for a folder that is neither empty nor of this many nodes."""
    names = set(os.listdir(folder))
    nodes = sorted(int(match[1]) for name in names if (match := _NODE_FOLDER.fullmatch(name)))
    others = sorted(name for name in names - _OTHERS if _NODE_FOLDER.fullmatch(name) is None)
    if others:
        raise DataDirectoryError(
            f"{folder} is no data folder of {len(node_ids)} nodes: it has {others[0]!r}; "
            "each node has a folder there, such as node-1"
        )
    if CONTROLLER_FOLDER not in names or nodes == list(node_ids):
        return
    # The controller's folder is created first. A start that was interrupted before the last one has stored nothing.
    has_metadata = not _METADATA_FILES.isdisjoint(os.listdir(os.path.join(folder, CONTROLLER_FOLDER)))
    if has_metadata or not set(nodes) <= set(node_ids):
        found = ", ".join(map(str, nodes)) or "none"
        raise DataDirectoryError(f"{folder} has the folders of nodes {found}, not {node_ids[0]} to {node_ids[-1]}")
