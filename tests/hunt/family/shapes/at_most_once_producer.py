"""Sends measurements, of which some may be lost and none may be there twice."""

from fauxka.testing.hunting.arguments import How

from ..clients.client import Failed, Sending
from ..defect import Defect
from ..shape import WITH_MANY_IN_FLIGHT, Shape
from ..world import EVENTS, ORDERS, SHORT_SECONDS, World


def run(world: World) -> None:
    """Send each event, and go on whatever becomes of it."""
    retries = None if world.has(Defect.NOT_IDEMPOTENT) else 0
    with world.sender(Sending(acks="1", is_idempotent=False, retries=retries)) as sender:
        for event in EVENTS:
            try:
                sender.send(ORDERS, event).wait(SHORT_SECONDS if world.has(Defect.SENT_AGAIN) else 5)
            except Failed:
                if world.has(Defect.SENT_AGAIN):
                    sender.send(ORDERS, event)
                    sender.flush()


SHAPE = Shape(
    "at-most-once producer",
    "at-most-once",
    run,
    How(topics=[ORDERS]),
    (Defect.NOT_IDEMPOTENT, Defect.SENT_AGAIN),
    # aiokafka repeats requests in any case.
    WITH_MANY_IN_FLIGHT,
)
