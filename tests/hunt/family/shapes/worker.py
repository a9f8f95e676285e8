"""Reads records and hands them to a worker, which copies each while the next one is read."""

from fauxka.testing.hunting.arguments import How

from ..clients.client import Reader, Reading, Record, Sender, Sending
from ..defect import Defect
from ..shape import OVERLOOKED, Shape
from ..world import COPIES, EVENTS, ORDERS, PLACE, World, fill, polled

GROUP = "copy"


def run(world: World) -> None:
    """Copy the records that are not committed. Raises Failed."""
    reading = Reading(GROUP, [ORDERS], commits_by_itself=world.has(Defect.AUTO_COMMIT))
    waiting: list[Record] = []
    with world.sender(Sending(in_flight=1)) as sender, world.reader(reading) as reader:
        next_ = reader.committed(PLACE)
        while next_ < len(EVENTS):
            waiting += polled(reader, 1)
            next_ = waiting[-1].offset + 1
            if world.has(Defect.COMMIT_BEFORE):
                reader.commit({PLACE: next_})
            while len(waiting) > 1:
                _copy(world, reader, sender, waiting.pop(0))
        for record in waiting:
            _copy(world, reader, sender, record)


def _copy(world: World, reader: Reader, sender: Sender, record: Record) -> None:
    world.acknowledge(sender, [sender.send(COPIES, record.value)])
    if not world.has(Defect.AUTO_COMMIT) and not world.has(Defect.COMMIT_BEFORE):
        reader.commit({PLACE: record.offset + 1})


SHAPE = Shape(
    "reader with a worker",
    "at-least-once",
    run,
    How(topics=[COPIES], groups=[GROUP], restarts=1, prepare=fill),
    (*OVERLOOKED, Defect.AUTO_COMMIT, Defect.COMMIT_BEFORE),
)
