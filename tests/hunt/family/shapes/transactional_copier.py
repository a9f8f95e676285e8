"""Copies each record in a transaction, to which the offset belongs."""

from fauxka.testing.hunting.arguments import How

from ..clients.client import Failed, Reader, Reading, Record, Sender, Sending
from ..defect import Defect
from ..shape import Shape
from ..world import COPIES, EVENTS, ORDERS, PLACE, World, fill, polled

GROUP = "copy"


def run(world: World) -> None:
    """Copy the records that are not committed. Raises Failed."""
    reading = Reading(GROUP, [ORDERS], is_committed_only=True)
    with world.sender(Sending(transactional_id="copier")) as sender, world.reader(reading) as reader:
        next_ = reader.committed(PLACE)
        while next_ < len(EVENTS):
            for record in polled(reader, 1):
                # A member that joins again gets what is in a transaction: aiokafka's transactions name no generation.
                if record.offset < next_:
                    continue
                if _copy(world, reader, sender, record):
                    next_ = record.offset + 1
                else:
                    reader.seek(PLACE, next_)


def _copy(world: World, reader: Reader, sender: Sender, record: Record) -> bool:
    """Copy a record. Return whether it is, and not to be copied again. Raises Failed."""
    after = {PLACE: record.offset + 1}
    try:
        if world.has(Defect.OFFSETS_BEFORE):
            reader.commit(after)
        sender.begin()
        sender.send(COPIES, record.value).wait()
        if not world.has(Defect.OFFSETS_BEFORE) and not world.has(Defect.OFFSETS_OUTSIDE):
            sender.send_offsets({PLACE: record.offset} if world.has(Defect.OFF_BY_ONE) else after, reader)
        with world.swallowing(Defect.ERROR_SWALLOWED):
            sender.commit()
        if world.has(Defect.OFFSETS_OUTSIDE):
            reader.commit(after)
    except Failed as error:
        if not error.needs_abort:
            raise
        sender.abort()
        return world.has(Defect.ABORT_IGNORED)
    return True


SHAPE = Shape(
    "transactional copier",
    "exactly-once",
    run,
    How(topics=[COPIES], groups=[GROUP], restarts=1, prepare=fill),
    (
        Defect.OFFSETS_BEFORE,
        Defect.OFFSETS_OUTSIDE,
        Defect.ABORT_IGNORED,
        Defect.OFF_BY_ONE,
        Defect.ERROR_SWALLOWED,
    ),
)
