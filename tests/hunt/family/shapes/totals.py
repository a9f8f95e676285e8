"""Counts the records as a member of a group, and keeps the total as the state of a key."""

from fauxka.testing.hunting.arguments import How

from ..clients.client import Reader, Reading, Record, Sender, Sending
from ..defect import Defect
from ..shape import OVERLOOKED, Shape
from ..world import EVENTS, ORDERS, PLACE, World, fill, polled

GROUP, TOTALS, KEY = "count", "totals", b"orders"


def run(world: World) -> None:
    """Count the records that are not committed. Raises Failed."""
    with world.sender(Sending(in_flight=1)) as sender, world.reader(Reading(GROUP, [ORDERS])) as reader:
        next_ = reader.committed(PLACE)
        while next_ < len(EVENTS):
            for record in polled(reader, len(EVENTS)):
                next_ = record.offset + 1
                if world.has(Defect.COMMIT_BEFORE):
                    reader.commit({PLACE: next_})
                _count(world, sender, record)
                if not world.has(Defect.COMMIT_BEFORE):
                    _commit(world, reader, next_)


def _count(world: World, sender: Sender, record: Record) -> None:
    """Write the new total, unless the record is counted. Raises Failed."""
    written = world.written(TOTALS)
    total = int(written[-1]) if written else 0
    if world.has(Defect.NOT_DEDUPLICATED) or record.offset >= total:
        world.acknowledge(sender, [sender.send(TOTALS, b"%d" % (total + 1), KEY)])


def _commit(world: World, reader: Reader, next_: int) -> None:
    reader.commit({PLACE: reader.position(PLACE) if world.has(Defect.COMMITS_POSITION) else next_})


SHAPE = Shape(
    "totals",
    "effectively-once",
    run,
    How(topics=[TOTALS], restarts=1, prepare=fill),
    (*OVERLOOKED, Defect.NOT_DEDUPLICATED, Defect.COMMIT_BEFORE, Defect.COMMITS_POSITION),
)
