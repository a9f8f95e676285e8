"""Copies each record to another topic as a member of a group, and commits what is copied."""

from fauxka.testing.hunting.arguments import How

from ..clients.client import Reader, Reading, Record, Sender, Sending
from ..defect import Defect
from ..shape import OVERLOOKED, Shape
from ..world import COPIES, EVENTS, ORDERS, PLACE, World, fill, polled

GROUP = "copy"


def run(world: World) -> None:
    """Copy the records that are not committed. Raises Failed."""
    reading = Reading(GROUP, [ORDERS], commits_by_itself=world.has(Defect.AUTO_COMMIT))
    with world.sender(Sending(in_flight=1)) as sender, world.reader(reading) as reader:
        begin = next_ = reader.committed(PLACE)
        while next_ < len(EVENTS):
            for record in polled(reader, len(EVENTS)):
                next_ = record.offset + 1
                if not (world.has(Defect.OFF_BY_ONE) and 0 < begin >= record.offset):
                    _copy(world, reader, sender, record)


def _copy(world: World, reader: Reader, sender: Sender, record: Record) -> None:
    if world.has(Defect.COMMIT_BEFORE):
        reader.commit({PLACE: record.offset + 1})
    with world.swallowing(Defect.POISON_SKIPPED):
        world.acknowledge(sender, [sender.send(COPIES, record.value)])
    if world.has(Defect.COMMITS_POSITION):
        reader.commit({PLACE: reader.position(PLACE)})
    elif not world.has(Defect.COMMIT_BEFORE) and not world.has(Defect.AUTO_COMMIT):
        reader.commit({PLACE: record.offset + 1})


SHAPE = Shape(
    "copier",
    "at-least-once",
    run,
    How(topics=[COPIES], groups=[GROUP], restarts=1, prepare=fill),
    (
        *OVERLOOKED,
        Defect.COMMIT_BEFORE,
        Defect.COMMITS_POSITION,
        Defect.OFF_BY_ONE,
        Defect.AUTO_COMMIT,
        Defect.POISON_SKIPPED,
    ),
)
