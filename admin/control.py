"""Control: the broker and its fault injection, as the operations use them. For the event loop's thread only.

Every operation names this class, also in a client without a broker. So the parts of a broker are loaded when a Control
is made, and not with this module.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from .. import admin
from ..faults import files
from .change_signal import ChangeSignal
from .errors import CallError, conflict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..broker.lifecycle.cluster_reset import SeedTopic
    from ..broker.lifecycle.cluster_server import ClusterHeldRequests
    from ..broker.node import Node
    from ..broker.runtime.clock import AdjustableClock
    from ..faults.files.file_rule_plan import FileRulePlan
    from .content_decoder import ContentDecoder
    from .export_folder import ExportFolder
    from .fault_injection import FaultInjection
    from .scenarios import Scenarios


class Control:
    """One cluster with its rules, journal, snapshots and scenarios."""

    def __init__(
        self,
        fault_injection: FaultInjection,
        *,
        seed_topics: Sequence[SeedTopic] = (),
        make_scenarios: Callable[[], Scenarios] | None = None,
        export_folder: ExportFolder | None = None,
        content_decoder: ContentDecoder | None = None,
    ) -> None:
        """Control the server of fault_injection.

        seed_topics: recreated by a reset. make_scenarios: imports and returns the scenarios.
        export_folder: confines exports; None for exports to any path, for callers in the broker's own process.
        content_decoder: decodes keys and values by schemas; None without any.
        """
        self.server = fault_injection.server
        self.cluster = self.server.cluster
        self.plan = fault_injection.plan
        self.arm_initial_rules = fault_injection.arm_initial_rules
        self.journal = fault_injection.journal
        self.marks = fault_injection.marks
        self.seed_topics = seed_topics
        self.export_folder = export_folder
        self.content_decoder = content_decoder
        # The records that are being decoded.
        self.decoding = 0
        # Of the URL of the admin API.
        self.scheme = "http"
        self._make_scenarios = make_scenarios
        self.is_running_scenario = False
        self.kcl = admin.kcl_faults.KclFaults(self.plan, self.cluster)
        self.snapshots = admin.snapshots.Snapshots()
        self.watch = admin.state_watch.StateWatch()
        # Groups and transactions.
        self.coordinator_changes = ChangeSignal()
        for node in self.cluster.nodes:
            node.on_coordinators_changed = self.coordinator_changes.notify

    @property
    def is_running(self) -> bool:
        """Whether clients can connect to a node."""
        return self.server.is_running

    def check_running(self) -> None:
        """Raise CallError 409 while all nodes are down."""
        if not self.is_running:
            raise self._down(self.server.node_ids[0])

    def check_all_running(self) -> None:
        """Raise CallError 409 while a node is down."""
        down = [node_id for node_id in self.server.node_ids if self.server.state_of(node_id) != "running"]
        if down:
            raise self._down(down[0])

    def _down(self, node_id: int) -> CallError:
        if len(self.server.node_ids) == 1:
            return conflict("the node is down; POST /v1/restart starts it")
        return conflict(f"node {node_id} is down; POST /v1/nodes/{node_id}/start starts it")

    @property
    def node(self) -> Node:
        """The first running node, or the first of all; for operations that any node can carry out."""
        running = self.server.running
        return running[0].node if running else self.cluster.node

    def node_at_controller(self) -> Node:
        """Return the first running node that is not cut off from the controller. Raises CallError 409 without one.

        For changes of the metadata, which a node checks by its own image.
        """
        self.check_running()
        for server in self.server.running:
            if server.node.reaches_controller:
                return server.node
        raise conflict("all running nodes are cut off from the controller")

    @property
    def held(self) -> ClusterHeldRequests:
        """The held requests."""
        return self.server.held

    @property
    def clock(self) -> AdjustableClock:
        """The clock of all timeouts and expirations."""
        return self.cluster.clock

    @cached_property
    def scenarios(self) -> Scenarios | None:
        """The scenarios, imported at the first call; None if this broker has none."""
        return None if self._make_scenarios is None else self._make_scenarios()

    @property
    def has_files(self) -> bool:
        """Whether the broker has a file fault injector."""
        return isinstance(self.cluster.node.file_faults, files.file_fault_injector.FileFaultInjector)

    @property
    def files(self) -> FileRulePlan:
        """The file fault rules. Raises CallError 409 if the broker has no file fault injector."""
        faults = self.cluster.node.file_faults
        if not isinstance(faults, files.file_fault_injector.FileFaultInjector):
            raise conflict("this broker was started without file faults")
        # Here and not before: most brokers have no file rules, and their modules are not loaded.
        faults.plan.on_rules = self.marks.file_rules_changed
        return faults.plan
