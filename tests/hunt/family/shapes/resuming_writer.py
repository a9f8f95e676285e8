"""Writes each event in a transaction. When it is started again, it looks in the topic where it goes on."""

from fauxka.testing.hunting.arguments import How

from ..clients.client import Sending, wait_for_all
from ..defect import Defect
from ..shape import Shape
from ..world import EVENTS, ORDERS, World

# So long a commit may take, before the program ends with an error.
COMMIT_SECONDS = 1.5


def run(world: World) -> None:
    """Write the events that are not there. Raises Failed."""
    world.kept.starts += 1
    number = world.kept.starts if world.has(Defect.NEW_TRANSACTIONAL_ID) else 0
    with world.sender(Sending(transactional_id=f"writer-{number}")) as sender:
        written = [] if world.has(Defect.RETRIED_WHOLE) else world.written(ORDERS)
        for event in EVENTS:
            if event in written:
                continue
            with world.swallowing(Defect.ERROR_SWALLOWED):
                sender.begin()
                wait_for_all([sender.send(ORDERS, event)])
                sender.commit(COMMIT_SECONDS)


SHAPE = Shape(
    "resuming writer",
    "exactly-once",
    run,
    How(topics=[ORDERS], restarts=1),
    (Defect.NEW_TRANSACTIONAL_ID, Defect.RETRIED_WHOLE, Defect.ERROR_SWALLOWED),
)
