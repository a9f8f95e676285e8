"""Writes each order and its payment, both or none. When it is started again, it looks where it goes on."""

from fauxka.testing.hunting.arguments import How

from ..clients.client import Failed, Sender, Sending
from ..defect import Defect
from ..shape import Shape
from ..world import EVENTS, ORDERS, SHORT_SECONDS, World

PAYMENTS = "payments"


def run(world: World) -> None:
    """Write the orders that are not there, with their payments. Raises Failed."""
    world.kept.starts += 1
    number = world.kept.starts if world.has(Defect.NEW_TRANSACTIONAL_ID) else 0
    id_ = None if world.has(Defect.NO_TRANSACTION) else f"shop-{number}"
    with world.sender(Sending(transactional_id=id_)) as sender:
        written = world.written(ORDERS)
        for event in EVENTS:
            if event not in written:
                _write(world, sender, event)


def _write(world: World, sender: Sender, event: bytes) -> None:
    if world.has(Defect.NO_TRANSACTION):
        sender.send(ORDERS, event).wait()
        sender.send(PAYMENTS, event).wait()
        return
    try:
        sender.begin()
        sender.send(ORDERS, event).wait()
        if world.has(Defect.TWO_TRANSACTIONS):
            sender.commit(SHORT_SECONDS)
            sender.begin()
        sender.send(PAYMENTS, event).wait()
        sender.commit(SHORT_SECONDS)
    except Failed as error:
        if not world.has(Defect.ABORT_IGNORED) or not error.needs_abort:
            raise
        sender.abort()


SHAPE = Shape(
    "two topics",
    "exactly-once",
    run,
    How(topics=[ORDERS, PAYMENTS], restarts=1),
    (Defect.NO_TRANSACTION, Defect.TWO_TRANSACTIONS, Defect.ABORT_IGNORED, Defect.NEW_TRANSACTIONAL_ID),
)
