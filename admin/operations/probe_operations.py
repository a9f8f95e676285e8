"""What orchestrators and people ask first: is it alive, is it ready, which version is it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ... import __version__
from ..control import Control
from ..errors import CallError
from ..operation import Operation

# Whose behaviour on the wire this is.
KAFKA_VERSION = "4.3"
TAG = "probes"
PROMETHEUS_TEXT = "text/plain; version=1.0.0; charset=utf-8"


class Alive(Struct, kw_only=True):
    """The event loop turns."""

    status: Literal["ok"] = "ok"


class Ready(Struct, kw_only=True):
    """Clients can connect."""

    status: Literal["ready"] = "ready"
    bootstrap: str


class Version(Struct, kw_only=True):
    """Which broker this is.

    kafka: the version whose wire behaviour it has.
    """

    name: Literal["fauxka"] = "fauxka"
    version: str = __version__
    kafka: str = KAFKA_VERSION
    cluster_id: str
    node_id: int


def healthz(control: Control) -> Alive:
    """Whether the process answers."""
    return Alive()


def readyz(control: Control) -> Ready:
    """Whether Kafka clients can connect; 503 while a crashed node is down."""
    if not control.is_running:
        raise CallError(503, "no node of this broker listens at present")
    return Ready(bootstrap=control.server.bootstrap_servers)


def version(control: Control) -> Version:
    """Which broker this is, in which version."""
    return Version(cluster_id=control.cluster.image.cluster_id, node_id=control.cluster.node.node_id)


def metrics(control: Control) -> bytes:
    """Return counters and gauges in Prometheus' text format."""
    # Lazy: imports prometheus_client.
    from ..metrics import render_metrics

    return render_metrics(control)


OPERATIONS = (
    Operation(method="GET", path="/healthz", perform=healthz, tag=TAG, is_public=True),
    Operation(method="GET", path="/readyz", perform=readyz, tag=TAG, is_public=True, errors=(503,)),
    Operation(method="GET", path="/version", perform=version, tag=TAG),
    Operation(method="GET", path="/metrics", perform=metrics, tag=TAG, media_type=PROMETHEUS_TEXT),
)
