"""Sends events at once, without idempotence, and waits for their delivery reports."""

from fauxka.testing.hunting.arguments import How

from ..clients.client import Sending
from ..defect import Defect
from ..shape import OVERLOOKED, Shape
from ..world import EVENTS, ORDERS, World


def run(world: World) -> None:
    """Send the events. Raises Failed."""
    acks = "0" if world.has(Defect.ACKS_0) else "1" if world.has(Defect.ACKS_1) else "all"
    with world.sender(Sending(acks=acks, is_idempotent=False, is_single=True)) as sender:
        deliveries = [sender.send(ORDERS, event) for event in EVENTS]
        world.acknowledge(sender, deliveries)


SHAPE = Shape(
    "plain producer",
    "at-least-once",
    run,
    How(topics=[ORDERS]),
    (*OVERLOOKED, Defect.LAST_REPORT_ONLY, Defect.NO_FLUSH, Defect.ACKS_0, Defect.ACKS_1),
)
