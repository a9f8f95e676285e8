"""Checks of the operations on nodes and replicas, and the errors of their changes."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated

from msgspec import Meta

from ...broker.lifecycle.cluster_server import NodeChangeError
from ..control import Control
from ..errors import CallError, conflict

NodeId = Annotated[int, Meta(ge=0, le=2**31 - 1)]


def check_node(control: Control, node_id: int, field: str = "node") -> int:
    """Return the id of a node that exists. field: its name in an error. Raises CallError 404."""
    node_ids = control.server.node_ids
    if node_id not in node_ids:
        allowed = ", ".join(map(str, node_ids))
        raise CallError(404, f"there is no node {node_id}", field=field, value=node_id, allowed=allowed)
    return node_id


def check_running_node(control: Control, node_id: int, field: str = "node") -> int:
    """Return the id of a running node. field: its name in an error. Raises CallError 404 and 409."""
    state = control.server.state_of(check_node(control, node_id, field))
    if state != "running":
        raise conflict(f"node {node_id} is down ({state})", field=field, value=node_id)
    return node_id


@contextmanager
def changes_node(field: str, value: object) -> Generator[None]:
    """Raise CallError 409 for a change that the state of the cluster does not allow."""
    try:
        yield
    except NodeChangeError as error:
        raise conflict(str(error), field=field, value=value) from error
