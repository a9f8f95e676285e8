"""The two kinds of brokers that scenarios run on: one in this process, and one in a process that can be killed."""

from __future__ import annotations

from ..scenario import Scenario
from .in_process_stage import InProcessStage
from .stage import Stage


def open_stage(scenario: Scenario, as_version: str) -> Stage:
    """Return a running broker for a scenario, which the caller closes. Raises StageFailed."""
    if scenario.on_disk:
        # Loaded only for the one that needs it.
        from .killed_stage import KilledStage

        return KilledStage(as_version)
    return InProcessStage(as_version)
