"""Changes of a broker in the middle of a program: a rule holds a request, the change is made, the request goes on.

The name of the rule is that of the change, so the rules of a finding are all that a replay needs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from ..faults.actions import Hold
from ..testing.errors import CallError

if TYPE_CHECKING:
    from ..admin.operations.held_operations import HeldRequestInfo
    from ..faults.rules.fault_rules import FaultRule
    from ..testing import Broker

# How often is looked for a held request.
_PAUSE_SECONDS = 0.005


class Change(NamedTuple):
    """A change. apis: of the requests before which it is made. nodes: as many as the broker needs at least."""

    apis: Sequence[str]
    nodes: int
    make: Callable[[Broker, HeldRequestInfo], None]


def _expire_producers(broker: Broker, _: HeldRequestInfo) -> None:
    for producer in broker.producers.list():
        broker.producers.expire(producer.producer_id, producer.topic, producer.partition)


def _forget_producers(broker: Broker, _: HeldRequestInfo) -> None:
    for producer in broker.producers.list():
        broker.producers.forget(producer.producer_id, producer.topic, producer.partition)


def _fence_producers(broker: Broker, _: HeldRequestInfo) -> None:
    for producer in broker.producers.list():
        broker.producers.bump_epoch(producer.producer_id, producer.topic, producer.partition)


def _kill_node(broker: Broker, held: HeldRequestInfo) -> None:
    broker.stop_node(held.node, controlled=False, noticed=True)


def _shut_down_node(broker: Broker, held: HeldRequestInfo) -> None:
    broker.stop_node(held.node)


_OF_NODES = ("Produce", "EndTxn", "TxnOffsetCommit", "OffsetCommit", "Fetch", "JoinGroup", "Heartbeat")
CHANGES: Mapping[str, Change] = {
    "producers expired": Change(("Produce",), 1, _expire_producers),
    "producers forgotten": Change(("Produce",), 1, _forget_producers),
    "producers fenced": Change(("Produce",), 1, _fence_producers),
    "node killed": Change(_OF_NODES, 2, _kill_node),
    "node shut down": Change(_OF_NODES, 2, _shut_down_node),
}


def change_of(rule: FaultRule) -> Change | None:
    """Return the change that a rule stands for; None for a plain fault."""
    return CHANGES.get(rule.name) if isinstance(rule.action, Hold) else None


@contextmanager
def changing(broker: Broker, changes: Mapping[int, Change]) -> Generator[None]:
    """Make the changes by the ids of their rules, each when its request is held, during the block."""
    if not changes:
        yield
        return
    ended = threading.Event()
    thread = threading.Thread(target=_change, args=(broker, changes, ended), name="hunt changes", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _change(broker: Broker, changes: Mapping[int, Change], ended: threading.Event) -> None:
    while not ended.wait(_PAUSE_SECONDS):
        for held in broker.held.list():
            if held.rule in changes:
                changes[held.rule].make(broker, held)
                _release(broker, held)


def _release(broker: Broker, held: HeldRequestInfo) -> None:
    try:
        broker.held.release(held)
    except CallError:
        # Its node is down, or its client is gone.
        return
