"""Writes batches of events, each in a transaction; a batch whose transaction was aborted is done again."""

from fauxka.testing.hunting.arguments import How

from ..clients.client import Failed, Sender, Sending, wait_for_all
from ..defect import Defect
from ..shape import Shape
from ..world import ORDERS, SHORT_SECONDS, World

BATCHES = [(b"a1", b"a2"), (b"b1", b"b2")]
ATTEMPTS = 3


def run(world: World) -> None:
    """Write the batches. Raises Failed."""
    with world.sender(Sending(transactional_id="writer")) as sender:
        for batch in BATCHES:
            if world.has(Defect.COMMIT_REPEATED):
                _write_and_repeat(world, sender, batch)
            else:
                _write(world, sender, batch)


def _write(world: World, sender: Sender, batch: tuple[bytes, ...]) -> None:
    """Write a batch, until its transaction is not aborted. Raises Failed."""
    for left in reversed(range(ATTEMPTS)):
        sender.begin()
        try:
            wait_for_all([sender.send(ORDERS, event) for event in batch])
            return sender.commit()
        except Failed as error:
            if world.has(Defect.ERROR_SWALLOWED) and not error.needs_abort:
                return None
            if not error.needs_abort or not left:
                raise
            sender.abort()
        if world.has(Defect.ABORT_IGNORED):
            return None
    return None


def _write_and_repeat(world: World, sender: Sender, batch: tuple[bytes, ...]) -> None:
    """Write a batch; if the commit has no result soon, write it by another producer. Raises Failed."""
    sender.begin()
    wait_for_all([sender.send(ORDERS, event) for event in batch])
    try:
        sender.commit(SHORT_SECONDS)
    except Failed:
        with world.sender(Sending(transactional_id="repeater")) as other:
            _write(world, other, batch)


SHAPE = Shape(
    "transactional producer",
    "exactly-once",
    run,
    How(topics=[ORDERS]),
    (Defect.ABORT_IGNORED, Defect.ERROR_SWALLOWED, Defect.COMMIT_REPEATED),
)
