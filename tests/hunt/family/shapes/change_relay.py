"""Sends the changes of a database by key, in their order, and keeps the position up to which they are sent.

A change is sent in a transaction, because a relay that was started again must be the only one that sends: a request of
the start before may be applied late, behind newer changes.
"""

from fauxka.testing.hunting.arguments import How

from ..clients.client import Failed, Sender, Sending
from ..defect import Defect
from ..shape import OVERLOOKED, WITH_MANY_IN_FLIGHT, Shape
from ..world import ORDERS, World

CHANGES = [(b"row-1", b"1a"), (b"row-2", b"2a"), (b"row-1", b"1b"), (b"row-1", b"1c"), (b"row-2", b"2b")]

TRANSACTIONAL_ID = "relay"
# These overlook a failed record, which a commit would find, or send several at a time.
WITHOUT_TRANSACTIONS = (*OVERLOOKED, Defect.HIGHEST_MARKED, Defect.IN_FLIGHT)


def run(world: World) -> None:
    """Send the changes behind the position. Raises Failed."""
    is_ordered = not world.has(Defect.IN_FLIGHT)
    begin = world.kept.position
    if world.has(Defect.OFF_BY_ONE) and begin:
        begin += 1
    if world.has(Defect.MARKED_FIRST):
        world.kept.position = len(CHANGES)
    sending = Sending(
        is_idempotent=is_ordered,
        in_flight=1 if is_ordered else 5,
        is_single=True,
        transactional_id=TRANSACTIONAL_ID if _is_fenced(world) else None,
    )
    with world.sender(sending) as sender:
        if world.has(Defect.IN_FLIGHT):
            deliveries = [sender.send(ORDERS, change, key) for key, change in CHANGES[begin:]]
            world.acknowledge(sender, deliveries)
            world.kept.position = len(CHANGES)
        else:
            _send_in_order(world, sender, begin)


def _is_fenced(world: World) -> bool:
    return world.defect not in WITHOUT_TRANSACTIONS


def _send_in_order(world: World, sender: Sender, begin: int) -> None:
    """Send each change when the one before is there. Raises Failed."""
    failed: list[Failed] = []
    for number, (key, change) in enumerate(CHANGES[begin:], begin):
        try:
            world.write(sender, ORDERS, change, key, in_transaction=_is_fenced(world))
        except Failed as error:
            if not world.has(Defect.HIGHEST_MARKED):
                raise
            failed.append(error)
        else:
            world.kept.position = number + 1
    if failed:
        raise failed[0]


SHAPE = Shape(
    "change relay",
    "at-least-once-in-order",
    run,
    How(topics=[ORDERS], restarts=1),
    (*OVERLOOKED, Defect.MARKED_FIRST, Defect.HIGHEST_MARKED, Defect.IN_FLIGHT, Defect.OFF_BY_ONE),
    limited={Defect.IN_FLIGHT: WITH_MANY_IN_FLIGHT},
)
