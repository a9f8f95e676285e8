"""Copies each record, and puts those that it cannot read into a topic of dead letters."""

from fauxka.testing.hunting.arguments import How

from ..clients.client import Reading, Sender, Sending
from ..defect import Defect
from ..shape import OVERLOOKED, Shape
from ..world import COPIES, EVENTS, ORDERS, PLACE, World, fill, polled

GROUP, DEAD_LETTERS, POISON = "copy", "dead-letters", EVENTS[1]


def run(world: World) -> None:
    """Handle the records that are not committed. Raises Failed."""
    with world.sender(Sending(in_flight=1)) as sender, world.reader(Reading(GROUP, [ORDERS])) as reader:
        next_ = reader.committed(PLACE)
        while next_ < len(EVENTS):
            for record in polled(reader, 1):
                next_ = record.offset + 1
                if world.has(Defect.COMMIT_BEFORE):
                    reader.commit({PLACE: next_})
                _handle(world, sender, record.value)
                if not world.has(Defect.COMMIT_BEFORE):
                    reader.commit({PLACE: next_})


def _handle(world: World, sender: Sender, value: bytes) -> None:
    if value != POISON:
        # With these defects it looks at the copies, and not at the dead letters.
        sender.send(COPIES, value).wait()
        return
    with world.swallowing(Defect.POISON_SKIPPED):
        world.acknowledge(sender, [sender.send(DEAD_LETTERS, value)])


SHAPE = Shape(
    "dead letters",
    "at-least-once",
    run,
    How(topics=[COPIES, DEAD_LETTERS], restarts=1, prepare=fill),
    (*OVERLOOKED, Defect.COMMIT_BEFORE, Defect.POISON_SKIPPED),
)
