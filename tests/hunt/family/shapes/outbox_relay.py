"""Sends the rows of a table, and marks those that are sent. When it is started again, it sends the others."""

from fauxka.testing.hunting.arguments import How

from ..clients.client import Failed, Sender, Sending
from ..defect import Defect
from ..shape import OVERLOOKED, Shape
from ..world import EVENTS, ORDERS, World

ATTEMPTS = 2


def run(world: World) -> None:
    """Send the rows that are not marked. Raises Failed."""
    done = world.kept.done
    with world.sender(Sending(in_flight=1)) as sender:
        for number, event in enumerate(EVENTS):
            if number in done:
                continue
            if world.has(Defect.MARKED_FIRST):
                done.add(number)
            world.acknowledge(sender, [sender.send(ORDERS, event)])
            done.add(number)


def run_with_ids(world: World) -> None:
    """Send the rows with their ids, each row again if it has failed. Raises Failed."""
    done = world.kept.done
    with world.sender(Sending(in_flight=1)) as sender:
        for number in range(len(EVENTS)):
            if number not in done:
                if world.has(Defect.MARKED_FIRST):
                    done.add(number)
                _send_with_id(world, sender, number)
                done.add(number)


def _send_with_id(world: World, sender: Sender, number: int) -> None:
    for attempt in range(ATTEMPTS):
        suffix = f"-{attempt}" if world.has(Defect.ID_CHANGED) else ""
        headers = [("id", f"row-{number}{suffix}".encode())]
        try:
            return world.acknowledge(sender, [sender.send(ORDERS, EVENTS[number], headers=headers)])
        except Failed:
            if attempt == ATTEMPTS - 1 and not world.has(Defect.GIVEN_UP):
                raise
            if world.has(Defect.GIVEN_UP):
                return None
    return None


SHAPE = Shape(
    "outbox relay", "at-least-once", run, How(topics=[ORDERS], restarts=1), (*OVERLOOKED, Defect.MARKED_FIRST)
)
WITH_IDS = Shape(
    "outbox relay with ids",
    "at-least-once",
    run_with_ids,
    How(topics=[ORDERS], restarts=1, event_id="header:id"),
    (*OVERLOOKED, Defect.MARKED_FIRST, Defect.ID_CHANGED, Defect.GIVEN_UP),
)
