"""The life of a node: it crashes as by SIGKILL, and is started again."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ...broker.config.config_keys import ConfigError
from ...broker.lifecycle.crash_restart import SnapshotFault
from ...broker.lifecycle.data_directory import DataDirectoryError
from ...broker.runtime.clock import ADVANCE_MS_MAX
from ...storage.corrupt_file import CorruptFileError
from ..control import Control
from ..errors import CallError, conflict
from ..operation import Operation

TAG = "life"

SnapshotsOption = Literal["keep", "drop", "corrupt"]
NodeId = Annotated[int, Meta(ge=0, le=2**31 - 1)]
RestartAfter = Annotated[int, Meta(ge=0, le=ADVANCE_MS_MAX)]


class NodeCrash(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which node crashes, and when it is started again.

    node: null is the only one. restart_after_ms: by the broker's clock; null is not by itself.
    snapshots: what happens meanwhile to the snapshots of producers on its disk.
    """

    node: NodeId | None = None
    restart_after_ms: RestartAfter | None = None
    snapshots: SnapshotsOption = "keep"


class NodeRestart(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which node is started again, and what has happened meanwhile to the snapshots of producers on its disk."""

    node: NodeId | None = None
    snapshots: SnapshotsOption = "keep"


class NodeInfo(Struct, kw_only=True):
    """A node; running: whether clients can connect."""

    node: int
    running: bool


def crash_node(control: Control, body: NodeCrash) -> NodeInfo:
    """Have a node die as by SIGKILL, at once; this API goes on answering."""
    _check_node(control, body.node)
    if not control.is_running:
        raise conflict("the node is down already", field="node", value=control.cluster.node.node_id)
    control.server.crash(body.restart_after_ms, SnapshotFault(body.snapshots))
    return _told(control)


async def restart_node(control: Control, body: NodeRestart) -> NodeInfo:
    """Start a node that crashed again, on the same ports, with what its files hold; answer when clients can connect."""
    _check_node(control, body.node)
    if control.is_running:
        raise conflict("the node runs", field="node", value=control.cluster.node.node_id)
    await ensure_running(control, SnapshotFault(body.snapshots))
    return _told(control)


async def ensure_running(control: Control, snapshots: SnapshotFault = SnapshotFault.KEEP) -> None:
    """Start a node that crashed; without effect on one that runs. Raises CallError 409 where it cannot be started."""
    try:
        await control.server.restart(snapshots)
    except (OSError, CorruptFileError, ConfigError, DataDirectoryError) as error:
        raise conflict(f"the node cannot be started: {error}") from error


def _check_node(control: Control, node: int | None) -> None:
    if node not in (None, control.cluster.node.node_id):
        message = f"there is no node {node}"
        raise CallError(404, message, field="node", value=node, allowed=str(control.cluster.node.node_id))


def _told(control: Control) -> NodeInfo:
    return NodeInfo(node=control.cluster.node.node_id, running=control.is_running)


OPERATIONS = (
    Operation(method="POST", path="/v1/crash", perform=crash_node, tag=TAG, errors=(404, 409)),
    Operation(method="POST", path="/v1/restart", perform=restart_node, tag=TAG, errors=(404, 409)),
)
