"""Sends the states of two keys at once, in their order."""

from fauxka.testing.hunting.arguments import How

from ..clients.client import Failed, Sender, Sending
from ..defect import Defect
from ..shape import AIOKAFKA, CONFLUENT, OVERLOOKED, WITH_MANY_IN_FLIGHT, Shape
from ..world import ORDERS, World

# A fault is tried at the request in the middle, too: the state that follows it is that of the same key.
STATES = [
    (b"cart-1", b"new"),
    (b"cart-2", b"opened"),
    (b"cart-1", b"paid"),
    (b"cart-1", b"sent"),
    (b"cart-2", b"closed"),
]


def run(world: World) -> None:
    """Send the states. Raises Failed."""
    is_ordered = not world.has(Defect.IN_FLIGHT)
    sending = Sending(is_idempotent=is_ordered, in_flight=1 if is_ordered else 5, is_single=True)
    with world.sender(sending) as sender:
        if world.has(Defect.SENT_LATER):
            _send_later(sender)
        else:
            world.acknowledge(sender, [sender.send(ORDERS, state, key) for key, state in STATES])


def _send_later(sender: Sender) -> None:
    """Send the states, and at the end those again that have failed. Raises Failed."""
    failed: list[tuple[bytes, bytes]] = []
    for key, state in STATES:
        try:
            sender.send(ORDERS, state, key).wait()
        except Failed:
            failed.append((key, state))
    for key, state in failed:
        sender.send(ORDERS, state, key).wait()


_DEFECTS = (*OVERLOOKED, Defect.LAST_REPORT_ONLY, Defect.IN_FLIGHT, Defect.SENT_LATER)
# An idempotent producer of kafka-python sends nothing more after a record that has failed. That of aiokafka does, and
# the broker refuses it unless it is a new producer: then only the first record is missing, no state in the end.
IN_ORDER = Shape(
    "keyed producer",
    "at-least-once-in-order",
    run,
    How(topics=[ORDERS]),
    _DEFECTS,
    limited={Defect.IN_FLIGHT: WITH_MANY_IN_FLIGHT, Defect.LAST_REPORT_ONLY: (CONFLUENT, AIOKAFKA)},
)
TABLE = Shape(
    "table writer",
    "effectively-once",
    run,
    How(topics=[ORDERS]),
    _DEFECTS,
    limited={Defect.IN_FLIGHT: WITH_MANY_IN_FLIGHT, Defect.LAST_REPORT_ONLY: (CONFLUENT,)},
)
