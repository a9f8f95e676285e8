"""Writes each event in a transaction. When it is started again, it looks in the topic where it goes on.

A commit that has no result soon ends it with an error, before the client sends the request again.
"""

from fauxka.testing.hunting.arguments import How

from ..clients.client import Sending, wait_for_all
from ..defect import Defect
from ..shape import Shape
from ..world import EVENTS, ORDERS, SHORT_SECONDS, World


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
                sender.commit(SHORT_SECONDS)


SHAPE = Shape(
    "resuming writer",
    "exactly-once",
    run,
    How(topics=[ORDERS], restarts=1),
    (Defect.NEW_TRANSACTIONAL_ID, Defect.RETRIED_WHOLE, Defect.ERROR_SWALLOWED),
)
