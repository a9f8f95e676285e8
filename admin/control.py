"""Everything that can be done with a broker over HTTP, as plain methods: tests in process call the very same.

All of it runs on the event loop's thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from ..broker.dispatch.held_requests import HeldRequests
from ..broker.lifecycle.seed_topics import SeedTopic
from ..broker.lifecycle.server import Server
from ..broker.runtime.clock import AdjustableClock
from ..faults.files.file_fault_injector import FileFaultInjector
from ..faults.files.file_rule_plan import FileRulePlan
from .errors import conflict
from .fault_injection import FaultInjection
from .operations.kcl_faults import KclFaults
from .scenarios import Scenarios
from .snapshots import Snapshots


class Control:
    """One broker with all that steers it, by subject."""

    def __init__(
        self,
        server: Server,
        fault_injection: FaultInjection,
        *,
        seed_topics: Sequence[SeedTopic] = (),
        make_scenarios: Callable[[], Scenarios] | None = None,
    ) -> None:
        """Steer a server with what it was wired with.

        seed_topics: those that are there again after a reset. make_scenarios: imports what
        runs scenarios, and returns it.
        """
        self.server = server
        self.cluster = server.cluster
        self.plan = fault_injection.plan
        self.journal = fault_injection.journal
        self.seed_topics = seed_topics
        self._make_scenarios = make_scenarios
        self.is_running_scenario = False
        self.kcl = KclFaults(self.plan, self.cluster)
        self.snapshots = Snapshots()

    @property
    def is_running(self) -> bool:
        """Whether clients can connect."""
        return self.server.is_running

    @property
    def held(self) -> HeldRequests:
        """The requests that rules keep."""
        return self.server.held

    @property
    def clock(self) -> AdjustableClock:
        """The clock that every timeout and expiry reads."""
        return self.cluster.clock

    @cached_property
    def scenarios(self) -> Scenarios | None:
        """What runs scenarios; loaded when it is first asked for, None where this broker has none."""
        return None if self._make_scenarios is None else self._make_scenarios()

    @property
    def has_files(self) -> bool:
        """Whether there is a place for rules for files."""
        return isinstance(self.cluster.node.file_faults, FileFaultInjector)

    @property
    def files(self) -> FileRulePlan:
        """The rules for files; raises CallError where this broker was made without a place for them."""
        faults = self.cluster.node.file_faults
        if not isinstance(faults, FileFaultInjector):
            raise conflict("this broker's files cannot go wrong on purpose")
        return faults.plan
