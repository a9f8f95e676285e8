"""Sends the lines of a file, with one flush at the end, and marks the file as done."""

from fauxka.testing.hunting.arguments import How

from ..clients.client import Failed, Sending
from ..defect import Defect
from ..shape import OVERLOOKED, Shape
from ..world import ORDERS, World

LINES = tuple(b"line %d" % number for number in range(6))
_FILE = 0


def run(world: World) -> None:
    """Send the file unless it is done. Raises Failed."""
    if _FILE in world.kept.done:
        return
    if world.has(Defect.MARKED_FIRST):
        world.kept.done.add(_FILE)
    acks = "0" if world.has(Defect.ACKS_0) else "1" if world.has(Defect.ACKS_1) else "all"
    is_idempotent = acks == "all"
    with world.sender(Sending(acks=acks, is_idempotent=is_idempotent, in_flight=1)) as sender:
        deliveries = [sender.send(ORDERS, line) for line in LINES]
        if not world.has(Defect.NO_FLUSH) and not world.has(Defect.FLUSH_RESULT_IGNORED) and not sender.flush():
            raise Failed("lines are not sent")
        world.acknowledge(sender, deliveries)
    world.kept.done.add(_FILE)


SHAPE = Shape(
    "batch job",
    "at-least-once",
    run,
    How(topics=[ORDERS], restarts=1),
    (*OVERLOOKED, Defect.NO_FLUSH, Defect.MARKED_FIRST, Defect.ACKS_0, Defect.ACKS_1),
)
