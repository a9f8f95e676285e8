"""Counts the records as a member of a group, and keeps the total as the state of a key.

A total is written in a transaction, because a program that was started again must be the only one that writes: a
request of the start before may be applied late. The defects that overlook a failed record have no transaction, whose
commit would find it.
"""

from fauxka.testing.hunting.arguments import How

from ..clients.client import Reader, Reading, Record, Sender, Sending
from ..defect import Defect
from ..shape import OVERLOOKED, Shape
from ..world import EVENTS, ORDERS, PLACE, World, fill, polled

GROUP, TOTALS, KEY, TRANSACTIONAL_ID = "count", "totals", b"orders", "counter"


def run(world: World) -> None:
    """Count the records that are not committed. Raises Failed."""
    sending = Sending(in_flight=1, transactional_id=TRANSACTIONAL_ID if _is_fenced(world) else None)
    with world.sender(sending) as sender, world.reader(Reading(GROUP, [ORDERS])) as reader:
        next_ = reader.committed(PLACE)
        while next_ < len(EVENTS):
            for record in polled(reader, len(EVENTS)):
                next_ = record.offset + 1
                if world.has(Defect.COMMIT_BEFORE):
                    reader.commit({PLACE: next_})
                _count(world, sender, record)
                if not world.has(Defect.COMMIT_BEFORE):
                    _commit(world, reader, next_)


def _is_fenced(world: World) -> bool:
    return world.defect not in OVERLOOKED


def _count(world: World, sender: Sender, record: Record) -> None:
    """Write the new total, unless the record is counted. Raises Failed."""
    written = world.written(TOTALS)
    total = int(written[-1]) if written else 0
    if world.has(Defect.NOT_DEDUPLICATED) or record.offset >= total:
        world.write(sender, TOTALS, b"%d" % (total + 1), KEY, in_transaction=_is_fenced(world))


def _commit(world: World, reader: Reader, next_: int) -> None:
    reader.commit({PLACE: reader.position(PLACE) if world.has(Defect.COMMITS_POSITION) else next_})


SHAPE = Shape(
    "totals",
    "effectively-once",
    run,
    How(topics=[TOTALS], restarts=1, prepare=fill),
    (*OVERLOOKED, Defect.NOT_DEDUPLICATED, Defect.COMMIT_BEFORE, Defect.COMMITS_POSITION),
)
