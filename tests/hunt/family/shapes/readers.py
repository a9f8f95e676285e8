"""Processes each record as a member of a group, which has no topic of its results: it reports what is processed."""

from fauxka.testing.hunting.arguments import How

from ..clients.client import Failed, Reading, Record
from ..defect import Defect
from ..shape import Shape
from ..world import EVENTS, ORDERS, PLACE, World, fill, polled

GROUP = "billing"
HOW = How(groups=[GROUP], processed=True, restarts=1, prepare=fill)


def process_at_least_once(world: World) -> None:
    """Process each record, then commit it. Raises Failed."""
    with world.reader(Reading(GROUP, [ORDERS])) as reader:
        next_ = reader.committed(PLACE)
        while next_ < len(EVENTS):
            for record in polled(reader, len(EVENTS)):
                next_ = record.offset + 1
                if world.has(Defect.COMMIT_BEFORE):
                    reader.commit({PLACE: next_})
                process(world, record)
                if not world.has(Defect.COMMIT_BEFORE):
                    reader.commit({PLACE: reader.position(PLACE) if world.has(Defect.COMMITS_POSITION) else next_})


def process_once(world: World) -> None:
    """Process each record that is not known, then commit it. Raises Failed."""
    known = set[int]() if world.has(Defect.KNOWN_IN_MEMORY) else world.kept.done
    with world.reader(Reading(GROUP, [ORDERS])) as reader:
        next_ = reader.committed(PLACE)
        while next_ < len(EVENTS):
            for record in polled(reader, len(EVENTS)):
                next_ = record.offset + 1
                if world.has(Defect.COMMIT_BEFORE):
                    reader.commit({PLACE: next_})
                if world.has(Defect.NOT_DEDUPLICATED) or record.offset not in known:
                    process(world, record)
                    known.add(record.offset)
                if not world.has(Defect.COMMIT_BEFORE):
                    reader.commit({PLACE: reader.position(PLACE) if world.has(Defect.COMMITS_POSITION) else next_})


def process_at_most_once(world: World) -> None:
    """Commit each record, then process it. Raises Failed."""
    with world.reader(Reading(GROUP, [ORDERS])) as reader:
        next_ = reader.committed(PLACE)
        while next_ < len(EVENTS):
            for record in polled(reader, 1):
                next_ = record.offset + 1
                if world.has(Defect.COMMIT_AFTER):
                    process(world, record)
                with world.swallowing(Defect.COMMIT_ERROR_IGNORED):
                    reader.commit({PLACE: record.offset if world.has(Defect.OFF_BY_ONE) else next_})
                if not world.has(Defect.COMMIT_AFTER):
                    process(world, record)


def commit_later(world: World) -> None:
    """Commit each record, and at the end again what was refused. Raises Failed."""
    with world.reader(Reading(GROUP, [ORDERS])) as reader:
        next_ = reader.committed(PLACE)
        refused: list[int] = []
        while next_ < len(EVENTS):
            for record in polled(reader, 1):
                next_ = record.offset + 1
                try:
                    reader.commit({PLACE: next_})
                except Failed:
                    refused.append(next_)
        for offset in refused if world.has(Defect.COMMITS_REPEATED) else refused[-1:]:
            if world.has(Defect.COMMITS_REPEATED) or offset == next_:
                reader.commit({PLACE: offset})


def process(world: World, record: Record) -> None:
    """Report that the record is processed."""
    world.broker.processed(ORDERS, PLACE.partition, record.offset, group=GROUP)


AT_LEAST_ONCE = Shape(
    "reader",
    "at-least-once",
    process_at_least_once,
    HOW,
    (Defect.COMMIT_BEFORE, Defect.COMMITS_POSITION),
)
ONCE = Shape(
    "deduplicating reader",
    "exactly-once",
    process_once,
    HOW,
    (Defect.NOT_DEDUPLICATED, Defect.KNOWN_IN_MEMORY, Defect.COMMIT_BEFORE, Defect.COMMITS_POSITION),
)
AT_MOST_ONCE = Shape(
    "at-most-once reader",
    "at-most-once",
    process_at_most_once,
    HOW,
    (Defect.COMMIT_AFTER, Defect.COMMIT_ERROR_IGNORED, Defect.OFF_BY_ONE),
)
LATE_COMMITS = Shape(
    "reader that repeats commits",
    "exactly-once",
    commit_later,
    How(groups=[GROUP], restarts=1, prepare=fill),
    (Defect.COMMITS_REPEATED,),
)
