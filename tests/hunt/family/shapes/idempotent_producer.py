"""Sends events one after the other, each once."""

from fauxka.testing.hunting.arguments import How

from ..clients.client import Failed, Sender, Sending
from ..defect import Defect
from ..shape import OVERLOOKED, Shape
from ..world import EVENTS, ORDERS, SHORT_SECONDS, World


def run(world: World) -> None:
    """Send each event, and wait for it. Raises Failed."""
    sending = Sending(is_idempotent=not world.has(Defect.NOT_IDEMPOTENT), in_flight=1)
    with world.sender(sending) as sender:
        for event in EVENTS:
            if world.has(Defect.SENT_AGAIN):
                _send_again(sender, sender, event)
            elif world.has(Defect.NEW_PRODUCER):
                with world.sender(sending) as other:
                    _send_again(sender, other, event)
            else:
                world.acknowledge(sender, [sender.send(ORDERS, event)])


def _send_again(sender: Sender, other: Sender, event: bytes) -> None:
    """Send an event; if it has no report soon, send it again by the other producer. Raises Failed."""
    try:
        sender.send(ORDERS, event).wait(SHORT_SECONDS)
    except Failed:
        other.send(ORDERS, event).wait()


SHAPE = Shape(
    "idempotent producer",
    "exactly-once",
    run,
    How(topics=[ORDERS]),
    (*OVERLOOKED, Defect.NOT_IDEMPOTENT, Defect.SENT_AGAIN, Defect.NEW_PRODUCER),
)
