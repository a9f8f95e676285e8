"""Handles requests as a web server does: each becomes an event, and its client asks again after a refusal."""

from fauxka.testing.hunting.arguments import How

from ..clients.client import Failed, Sender, Sending
from ..defect import Defect
from ..shape import OVERLOOKED, Shape
from ..world import EVENTS, ORDERS, World

OK, UNAVAILABLE = 200, 503
ATTEMPTS = 3


def run(world: World) -> None:
    """Handle the requests. Raises Failed if one was refused each time."""
    with world.sender(Sending(in_flight=1)) as sender:
        for event in EVENTS:
            attempts = 1 if world.has(Defect.GIVEN_UP) else ATTEMPTS
            statuses = (_handle(world, sender, event) for _ in range(attempts))
            if OK not in statuses and not world.has(Defect.GIVEN_UP):
                raise Failed("the server is not available")
        if world.has(Defect.MARKED_FIRST):
            sender.flush()


def _handle(world: World, sender: Sender, event: bytes) -> int:
    """Return the status of the response."""
    try:
        delivery = sender.send(ORDERS, event)
        if not world.has(Defect.MARKED_FIRST):
            world.acknowledge(sender, [delivery])
    except Failed:
        return UNAVAILABLE
    return OK


SHAPE = Shape(
    "request handler",
    "at-least-once",
    run,
    How(topics=[ORDERS]),
    (*OVERLOOKED, Defect.MARKED_FIRST, Defect.GIVEN_UP),
)
