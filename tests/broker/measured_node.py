"""A node whose event loop is measured, and the check that a wide request does not hold it."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from importlib import import_module

import pytest

from fauxka.faults.rules.fault_plan import FaultPlan

from .long_requests import SETTINGS, TOPIC, ask, create_batch_topics
from .loop_pauses import PAUSE_SECONDS_MAX, LoopPauses, measured_loop
from .running_node import Node
from .wide_requests import WideRequest

# What a broker imports with its first group or transaction: pytest compiles it anew on a fresh machine.
LOADED_LATER = (
    *("group.group_coordinator", "consumer.consumer_groups", "transaction.transaction_coordinator"),
    *("share.share_groups", "share.share_nodes", "share.share_state", "share.share_partitions"),
)
MeasuredNode = tuple[Node, LoopPauses]


@contextmanager
def measured_node(plan: FaultPlan | None = None, config: Mapping[str, str] | None = None) -> Generator[MeasuredNode]:
    """Run a node during the block. config: settings beside those of long requests."""
    settings = {key: value for key, _, value in (setting.partition("=") for setting in SETTINGS)}
    with (
        pytest.MonkeyPatch.context() as monkeypatch,
        measured_loop(monkeypatch) as (loop, pauses),
        Node(config={**settings, **(config or {})}, loop=loop, plan=plan) as node,
    ):
        create_batch_topics(node.address)
        for part in LOADED_LATER:
            import_module(f"fauxka.broker.coordinators.{part}")
        yield node, pauses


def check_widest(request: WideRequest, measured: MeasuredNode) -> None:
    """Send a request with its longest list, and assert that it is answered and holds the event loop only briefly."""
    node, pauses = measured
    frame = request.frame(request.widest, TOPIC.decode())
    pauses.longest = 0.0

    assert ask(node.address, frame) is not None

    assert pauses.longest < PAUSE_SECONDS_MAX
