"""A broker without fault rules and journal, to measure their cost."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from fauxka.broker.cluster import Cluster
from fauxka.broker.lifecycle import serve_command
from fauxka.broker.lifecycle.cluster_reset import SeedTopic
from fauxka.broker.lifecycle.cluster_server import ClusterServer
from fauxka.broker.network.listeners import ListenerConfig
from fauxka.broker.runtime import log_output


class NoHooks:
    """ServeHooks that do nothing."""

    make_file_faults = None

    def make_server(self, cluster: Cluster, listeners: Sequence[Sequence[ListenerConfig]]) -> ClusterServer:
        """Return a server without fault rules and journal."""
        return ClusterServer(cluster, listeners)

    def bind(self, kafka_ports: Collection[int], tls_dir: Path | None) -> None:
        """Bind nothing."""

    async def open(self, seed_topics: Sequence[SeedTopic]) -> str | None:
        """Start no admin API."""
        return None

    async def close(self) -> None:
        """Close nothing."""


def main() -> None:
    """Serve; the arguments are the port, the ready file and settings."""
    port, ready_file, *assignments = sys.argv[1:]
    log_output.set_up_logging(log_output.level_of("info"))
    options = serve_command.ServeOptions(
        environment={}, port=int(port), ready_file=ready_file, assignments=tuple(assignments)
    )
    serve_command.serve(options, NoHooks())


if __name__ == "__main__":
    main()
