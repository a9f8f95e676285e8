"""The fault rules and the journal of one cluster, and its server with both.

Imported at every start-up: msgspec and the models of rules are imported with the first rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from .. import storage
from ..broker.cluster import Cluster
from ..broker.lifecycle.cluster_server import ClusterServer
from ..broker.network.listeners import ListenerConfig
from ..faults.journal.journal import Journal
from ..faults.journal.marks import Marks
from ..faults.rules.fault_plan import FaultPlan

if TYPE_CHECKING:
    from ..broker.lifecycle.crash_restart import LogEndOffsets
    from ..broker.node import Node
    from ..faults.rules.fault_rules import FaultRule
    from ..storage.leader_change import LeaderChange


class FaultInjection:
    """The rules and the journal of all nodes of a cluster, and their server."""

    def __init__(
        self,
        cluster: Cluster,
        listeners: Sequence[Sequence[ListenerConfig]],
        initial_rules: Sequence[FaultRule] = (),
    ) -> None:
        """Make the server of the nodes, which is not started, with an empty journal.

        listeners: of each node. initial_rules: in force from the start on, and again after a reset of faults.
        """
        self.plan = FaultPlan(cluster.clock.steady_ms)
        self._initial_rules = initial_rules
        self.arm_initial_rules()
        config = cluster.image.configs.current
        self.journal = Journal(
            config.journal_requests_max, cluster.image.topic_name_of, bytes_max=config.journal_bytes_max
        )
        self.marks = Marks(lambda: self.journal.last_id, cluster.clock.now_ms)
        self.server = ClusterServer(cluster, listeners, plan=self.plan, observer=self.journal)
        membership = cluster.membership
        if membership is None:
            self.server.servers[0].on_recovered = self._recovered
        else:
            # Of several nodes, only the log of the leader counts.
            membership.on_leader_changed = self._leader_changed
            self.journal.counted.reachability = membership

        self.plan.on_rules = self.marks.rules_changed
        self.journal.consumption.on_group_records = self.marks.group_changed
        for server in self.server.servers:
            server.on_state = partial(self._node_changed, server.node)
        for node in cluster.nodes:
            node.replicas.before_removal = partial(self._removes, node)

    def arm_initial_rules(self) -> None:
        """Add the initial rules after the others."""
        for rule in self._initial_rules:
            self.plan.add(rule)

    def _node_changed(self, node: Node, happens: str) -> None:
        self.marks.add("node", f"node {node.node_id} {happens}")

    def _leader_changed(self, change: LeaderChange) -> None:
        self.marks.leader_changed(change)
        self.journal.leader_changed(change)

    def _recovered(self, ends: LogEndOffsets) -> None:
        self.journal.truncated(ends.topic_name, ends.partition, ends.before, ends.after)

    def _removes(self, node: Node, topic: str, partition: int, offset: int) -> None:
        batches = partial(storage.replica_files.batches_in_files, node.inner_files, topic, partition, offset)
        # Records whose files cannot be read have no names.
        with suppress(OSError):
            self.journal.removes(topic, partition, batches)
