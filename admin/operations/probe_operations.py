"""Health probes, version and metrics."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ... import __version__, admin
from ..control import Control
from ..errors import CallError
from ..operation import Operation

# The version whose behaviour the broker has.
KAFKA_VERSION = "4.4"
TAG = "probes"
PROMETHEUS_TEXT = "text/plain; version=1.0.0; charset=utf-8"


class Alive(Struct, kw_only=True):
    """The event loop is running."""

    status: Literal["ok"] = "ok"


class Ready(Struct, kw_only=True):
    """Clients can connect. bootstrap: the address of the first listener, of each node if there are several."""

    status: Literal["ready"] = "ready"
    bootstrap: str


class Version(Struct, kw_only=True):
    """The version and identity of the broker. kafka: the Kafka version whose behaviour it has.

    node_id: of the first node.
    """

    name: Literal["fauxka"] = "fauxka"
    version: str = __version__
    kafka: str = KAFKA_VERSION
    cluster_id: str
    node_id: int


def healthz(control: Control) -> Alive:
    """Return 200 while the process runs."""
    return Alive()


def readyz(control: Control) -> Ready:
    """Return 200 if Kafka clients can connect, 503 while all nodes are down."""
    if not control.is_running:
        raise CallError(503, "no node of this broker is running")
    return Ready(bootstrap=control.server.bootstrap_servers)


def version(control: Control) -> Version:
    """Return the version and identity of the broker."""
    return Version(cluster_id=control.cluster.image.cluster_id, node_id=control.cluster.node.node_id)


def metrics(control: Control) -> bytes:
    """Return counters and gauges in Prometheus' text format."""
    return admin.metrics.render_metrics(control)


OPERATIONS = (
    Operation(method="GET", path="/healthz", perform=healthz, tag=TAG, is_public=True),
    Operation(method="GET", path="/readyz", perform=readyz, tag=TAG, is_public=True, errors=(503,)),
    Operation(method="GET", path="/version", perform=version, tag=TAG),
    Operation(method="GET", path="/metrics", perform=metrics, tag=TAG, media_type=PROMETHEUS_TEXT),
)
