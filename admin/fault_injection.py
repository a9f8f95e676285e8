"""The fault rules and the journal of one broker, and its server with both.

Imported at every start-up: msgspec and the models of rules are imported with the first rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..broker.cluster import Cluster
from ..broker.lifecycle.server import Server
from ..broker.network.listeners import ListenerConfig
from ..faults.journal.journal import Journal
from ..faults.rules.fault_plan import FaultPlan

if TYPE_CHECKING:
    from ..broker.lifecycle.crash_restart import LogEndOffsets


class FaultInjection:
    """The rules and the journal of one broker."""

    def __init__(self, cluster: Cluster) -> None:
        """Start without rules and with an empty journal."""
        self.plan = FaultPlan(cluster.clock.now_ms)
        self.journal = Journal(
            cluster.node.config.journal_requests_max, cluster.node.node_id, cluster.image.topic_name_of
        )

    def make_server(self, cluster: Cluster, listeners: Sequence[ListenerConfig]) -> Server:
        """Return the server of the node, not started, with the rules and the journal."""
        server = Server(cluster, listeners, plan=self.plan, observer=self.journal)
        server.on_recovered = self._recovered
        return server

    def _recovered(self, ends: LogEndOffsets) -> None:
        self.journal.truncated(ends.topic_name, ends.partition, ends.before, ends.after)
