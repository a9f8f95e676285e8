"""A broker without rules and without a journal, for benchmarks only: what the two cost is measured beside it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from fauxka.broker.cluster import Cluster
from fauxka.broker.lifecycle import serve_command
from fauxka.broker.lifecycle.cluster_reset import SeedTopic
from fauxka.broker.lifecycle.server import Server
from fauxka.broker.network.listeners import ListenerConfig
from fauxka.broker.runtime import log_output


class Nobody:
    """See fauxka.broker.lifecycle.serve_hooks.ServeHooks."""

    make_file_faults = None

    def make_server(self, cluster: Cluster, listeners: Sequence[ListenerConfig]) -> Server:
        """Return a node that nobody makes go wrong, and nobody watches."""
        return Server(cluster, listeners)

    def bind(self) -> None:
        """Take no address."""

    async def open(self, server: Server, seed_topics: Sequence[SeedTopic]) -> str | None:
        """Open no door."""
        return None

    async def close(self) -> None:
        """Close nothing."""


def main() -> None:
    """Serve on the port of the first argument with the ready file of the second; the others are settings."""
    port, ready_file, *assignments = sys.argv[1:]
    log_output.set_up_logging(log_output.level_of("info"))
    options = serve_command.ServeOptions(
        environment={}, port=int(port), ready_file=ready_file, assignments=tuple(assignments)
    )
    serve_command.serve(options, Nobody())


if __name__ == "__main__":
    main()
