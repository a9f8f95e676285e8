"""Operation that writes the broker's topics to a folder for a real Kafka."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from ...broker.lifecycle import export as exporting
from ...broker.lifecycle.server import Server
from ..control import Control
from ..daemon_thread import run_in_daemon_thread
from ..errors import conflict
from ..operation import Operation

TAG = "state"

PATH_CHARACTERS_MAX = 4096
# Reached only if the event loop has stopped.
CONNECT_SECONDS_MAX = 60.0


class Export(Struct, kw_only=True, forbid_unknown_fields=True):
    """dir: a missing or empty folder on the broker's machine, inside the folder of --export-dir.

    A relative path is relative to that folder.
    """

    dir: Annotated[str, Meta(min_length=1, max_length=PATH_CHARACTERS_MAX, pattern=r"^[^\0]*$")]


class Exported(Struct, kw_only=True):
    """dir: the absolute path of the folder. said: what was written, and how to start a Kafka on it."""

    dir: str
    said: list[str]


async def export(control: Control, body: Export) -> Exported:
    """Write all topics to a folder on which a real Kafka starts, as `fauxka export` does.

    The topics are read over the Kafka protocol: fault rules apply to these requests, and the journal records them. The
    connections are within the process, so that listeners may all have TLS and SASL, and that no ACL denies a topic if
    there is a super user.
    """
    first = _reachable_server(control).node.node_id
    loop = asyncio.get_running_loop()
    said: list[str] = []
    confined = control.export_folder

    async def open_connection(node_id: int) -> socket.socket:
        return control.server.server_of(node_id).open_internally()

    def connect(node_id: int) -> socket.socket:
        return asyncio.run_coroutine_threadsafe(open_connection(node_id), loop).result(CONNECT_SECONDS_MAX)

    def work() -> Path:
        path = Path(body.dir).absolute() if confined is None else confined.resolve(body.dir)
        within = None if confined is None else confined.path
        source = exporting.log_export.OwnSource(first, connect)
        exporting.log_export.export(str(path), data_folder=None, broker=source, report=said.append, within=within)
        return path

    try:
        folder = await run_in_daemon_thread("fauxka-export", work)
    except (exporting.kafka_folder.ExportError, OSError) as error:
        raise conflict(f"cannot export: {error}", field="dir", value=body.dir) from error
    return Exported(dir=str(folder), said=said)


def _reachable_server(control: Control) -> Server:
    """Return the server of a node from which a client can export. Raises CallError 409.

    An export sends requests to every node, and would wait for one that is cut off from its clients.
    """
    control.check_running()
    for node_id in control.server.node_ids:
        if "clients" in control.server.isolated_from(node_id):
            raise conflict(f"node {node_id} is cut off from its clients; POST /v1/nodes/{node_id}/rejoin connects it")
    running = control.server.running
    # A node that is cut off from the controller may name leaders that have been replaced.
    return next((each for each in running if each.node.reaches_controller), running[0])


OPERATIONS = (Operation(method="POST", path="/v1/export", perform=export, tag=TAG, errors=(409,)),)
