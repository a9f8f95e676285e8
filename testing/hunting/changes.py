"""Changes of a broker in the middle of a program: a rule holds a request, the change is made, the request goes on.

- The name of the rule is that of the change, so the rules of a finding are all that a replay needs.
- The connection of the request is muted meanwhile: no later request of it overtakes, as on Kafka.
- Members and transactions expire as if the program was paused: the broker's clock is advanced in steps until they are
  gone, because the broker does not tell the session timeouts of members. The program is connected, so the advance must
  say that it expires members.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from ...faults.actions import Hold
from ..errors import CallError

if TYPE_CHECKING:
    from ...admin.operations.held_operations import HeldRequestInfo
    from ...faults.journal.journal_entries import JournalEntry
    from ...faults.rules.fault_rules import FaultRule
    from ..broker import Broker

# How often is looked for a held request.
_PAUSE_SECONDS = 0.005
# Longer than any session and any transaction that a broker allows by default: group.max.session.timeout.ms.
_EXPIRY_MS_MAX = 1_800_000
_EXPIRY_STEP_MS = 5_000
# Longer than max.poll.interval.ms and transaction.timeout.ms are by default.
_DOWN_MS = 3_600_000
# What a program that waits for one replica gets its response in; one that waits for all gets none meanwhile.
_RESPONSE_SECONDS_MAX = 0.5
# What a client reads a response in, if it does not show that it has by another request.
_READ_SECONDS_MAX = 1.0
NO_LEADER = -1
# Requests that have waited behind the one that is held arrive sooner than this after its response.
_WAITED_MS_MAX = 50

Make = Callable[["Broker", "HeldRequestInfo"], None]


class Change(NamedTuple):
    """A change.

    apis: of the requests before which it is made. make: called while the request is held. nodes: as many as the broker
    needs at least. users: APIs; a program that has sent no request of them does not notice the change. Empty: any.
    then: called when the request is released; None for nothing more.
    is_paired: whether it is tried together with other faults. A broker whose producers have expired recognises nothing
    that a producer repeats after an earlier fault, whatever the program does.
    loses_topics: whether it deletes the topics of the request, whose events are none that the program has lost.
    undo: called when the program has ended, of a change that stays until then; None for one that is over before.
    """

    apis: Sequence[str]
    make: Make
    nodes: int = 1
    users: Sequence[str] = ()
    then: Make | None = None
    is_paired: bool = True
    loses_topics: bool = False
    undo: Callable[[Broker], None] | None = None

    @property
    def stays(self) -> bool:
        """Whether it stays as long as the program runs."""
        return self.undo is not None


def _expire_producers(broker: Broker, _: HeldRequestInfo) -> None:
    broker.producers.expire()


def _fence_producers(broker: Broker, _: HeldRequestInfo) -> None:
    for each in broker.transactions.list():
        broker.transactions.fence(each.transactional_id)


def _expire_members(broker: Broker, _: HeldRequestInfo) -> None:
    expire_members(broker)


def expire_members(broker: Broker) -> None:
    """Advance the clock of the broker until no group has a member."""
    _advance_while(broker, lambda: any(group.members for group in broker.groups.list()))


def _expire_transactions(broker: Broker, _: HeldRequestInfo) -> None:
    _advance_while(broker, lambda: bool(broker.transactions.list("Ongoing")))


def _advance_while(broker: Broker, is_unexpired: Callable[[], bool]) -> None:
    for _ in range(0, _EXPIRY_MS_MAX, _EXPIRY_STEP_MS):
        if not is_unexpired():
            return
        broker.clock.advance(_EXPIRY_STEP_MS, members="expire")


def _delete_topics(broker: Broker, held: HeldRequestInfo) -> None:
    for topic in held.topics:
        broker.topics.delete(topic)


def _remove_leaders(broker: Broker, held: HeldRequestInfo) -> None:
    for topic, partition in _partitions_of(broker, held):
        broker.move_leader(topic, partition, None)


def _partitions_of(broker: Broker, held: HeldRequestInfo) -> set[tuple[str, int]]:
    """Return the partitions of a Produce, or all of the topics that a connection fetches.

    A Fetch in a fetch session names only the partitions that have changed, so the earlier ones count too.
    """
    if held.batches:
        return {(batch.topic, batch.partition) for batch in held.batches}
    earlier = (entry.topics for entry in _requests_of(broker, held) if entry.api == held.api)
    topics = {*held.topics, *chain.from_iterable(earlier)}
    return {(each.topic, each.partition) for each in broker.partitions() if each.topic in topics}


def _restore_leaders(broker: Broker) -> None:
    for each in broker.partitions():
        if each.leader == NO_LEADER and each.isr:
            broker.move_leader(each.topic, each.partition, each.isr[0])


def _stop_for_an_hour(broker: Broker, held: HeldRequestInfo) -> None:
    """Stop the node until transactions and members, which the client has not kept alive, have expired."""
    broker.stop_node(held.node, controlled=False, noticed=True)
    broker.clock.advance(_DOWN_MS)
    broker.start_node(held.node)
    # A coordinator that starts looks for what has expired a little later.
    _expire_transactions(broker, held)
    expire_members(broker)


def _cut_off_followers(broker: Broker, held: HeldRequestInfo) -> None:
    broker.isolate(held.node, ["nodes"])


def _kill_after_response(broker: Broker, held: HeldRequestInfo) -> None:
    """Kill the node when the client knows that the request was applied, or waits for the followers.

    A client that has not read its response would only see that the connection ends, and send the request again.
    """
    if _comes_true(lambda: _answered(broker, held) is not None, _RESPONSE_SECONDS_MAX):
        _comes_true(lambda: _has_gone_on(broker, held), _READ_SECONDS_MAX)
    _kill_node(broker, held)


def _comes_true(condition: Callable[[], bool], seconds_max: float) -> bool:
    end = time.monotonic() + seconds_max
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(_PAUSE_SECONDS)
    return True


def _answered(broker: Broker, held: HeldRequestInfo) -> JournalEntry | None:
    """Return the request if its response was written."""
    found = (entry for entry in _requests_of(broker, held) if entry.correlation_id == held.correlation_id)
    return next((entry for entry in found if entry.answered), None)


def _has_gone_on(broker: Broker, held: HeldRequestInfo) -> bool:
    """Whether the client has sent a request after it got the response."""
    answered = _answered(broker, held)
    assert answered is not None and answered.took_ms is not None, "the response was written"
    read_ms = answered.at_ms + answered.took_ms + _WAITED_MS_MAX
    return any(entry.at_ms > read_ms for entry in _requests_of(broker, held))


def _requests_of(broker: Broker, held: HeldRequestInfo) -> list[JournalEntry]:
    return [
        entry for entry in broker.journal.entries() if (entry.node, entry.connection) == (held.node, held.connection)
    ]


def _kill_node(broker: Broker, held: HeldRequestInfo) -> None:
    broker.stop_node(held.node, controlled=False, noticed=True)


def _shut_down_node(broker: Broker, held: HeldRequestInfo) -> None:
    broker.stop_node(held.node)


_MODERN_HEARTBEATS = ("ConsumerGroupHeartbeat", "StreamsGroupHeartbeat")
_OF_NODES = ("Produce", "EndTxn", "TxnOffsetCommit", "OffsetCommit", "Fetch", "JoinGroup", "Heartbeat")
_OF_MEMBERS = (
    *("Produce", "TxnOffsetCommit", "OffsetCommit", "Fetch"),
    *("SyncGroup", "Heartbeat", *_MODERN_HEARTBEATS),
)
_OF_TRANSACTIONS = ("Produce", "EndTxn", "TxnOffsetCommit", "AddPartitionsToTxn", "AddOffsetsToTxn")
CHANGES: Mapping[str, Change] = {
    "producers expired": Change(("Produce",), _expire_producers, is_paired=False),
    "producers fenced": Change(_OF_TRANSACTIONS, _fence_producers, users=("EndTxn",)),
    "members expired": Change(_OF_MEMBERS, _expire_members, users=("JoinGroup", *_MODERN_HEARTBEATS)),
    "transactions expired": Change(_OF_TRANSACTIONS, _expire_transactions, users=("EndTxn",)),
    "broker down for an hour": Change(
        tuple(dict.fromkeys((*_OF_MEMBERS, *_OF_TRANSACTIONS))),
        _stop_for_an_hour,
        users=("EndTxn", "JoinGroup", *_MODERN_HEARTBEATS),
    ),
    "partition without a leader": Change(("Produce", "Fetch"), _remove_leaders, undo=_restore_leaders),
    "topic deleted": Change(("Produce",), _delete_topics, is_paired=False, loses_topics=True),
    "node killed": Change(_OF_NODES, _kill_node, nodes=2),
    "node shut down": Change(_OF_NODES, _shut_down_node, nodes=2),
    "node killed before its followers had it": Change(
        ("Produce",), _cut_off_followers, nodes=2, then=_kill_after_response
    ),
}


def change_of(rule: FaultRule) -> Change | None:
    """Return the change that a rule stands for; None for a plain fault."""
    return CHANGES.get(rule.name) if isinstance(rule.action, Hold) else None


@contextmanager
def changing(
    broker: Broker, changes: Mapping[int, Change], before_loss: Callable[[Sequence[str]], None]
) -> Generator[list[str]]:
    """Make the changes by the ids of their rules, each when its request is held, during the block; undo what stays.

    before_loss: called with topics before they are deleted. Yields a list, which has the reasons why changes could not
    be made.
    """
    failed: list[str] = []
    if not changes:
        yield failed
        return
    ended = threading.Event()
    made = {rule: _after(before_loss, change) if change.loses_topics else change for rule, change in changes.items()}
    thread = threading.Thread(target=_change, args=(broker, made, ended, failed), name="hunt changes", daemon=True)
    thread.start()
    try:
        yield failed
    finally:
        ended.set()
        thread.join()
        for change in changes.values():
            if change.undo is not None:
                _try(failed, partial(change.undo, broker))


def _after(before_loss: Callable[[Sequence[str]], None], change: Change) -> Change:
    def make(broker: Broker, held: HeldRequestInfo) -> None:
        before_loss(held.topics)
        change.make(broker, held)

    return change._replace(make=make)


def _change(broker: Broker, changes: Mapping[int, Change], ended: threading.Event, failed: list[str]) -> None:
    while not ended.wait(_PAUSE_SECONDS):
        for held in broker.held.list():
            if held.rule in changes:
                _make(changes[held.rule], broker, held, failed)


def _make(change: Change, broker: Broker, held: HeldRequestInfo, failed: list[str]) -> None:
    """Make a change and release its request, which must go on in any case."""
    is_made = _try(failed, partial(change.make, broker, held))
    _release(broker, held)
    if is_made and change.then is not None:
        _try(failed, partial(change.then, broker, held))


def _try(failed: list[str], part: Callable[[], None]) -> bool:
    """Make a part of a change, and return whether that was possible. failed: gets the reason why it was not."""
    try:
        part()
    except CallError as error:
        failed.append(str(error))
        return False
    return True


def _release(broker: Broker, held: HeldRequestInfo) -> None:
    try:
        broker.held.release(held)
    except CallError:
        # Its node is down, or its client is gone.
        return
