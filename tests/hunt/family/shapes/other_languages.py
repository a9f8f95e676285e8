"""Programs with the Java client and with kafkajs: java/Programs.java and node/programs.js have their shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fauxka.testing.hunting.arguments import How

from ..defect import Defect
from ..runtime import Runtime, java, node
from ..shape import JAVA, KAFKAJS, Shape
from ..world import COPIES, ORDERS, World, fill
from .copier import GROUP

WRITING = How(topics=[ORDERS], seed_topics={ORDERS: 1})
# Of two faults, the second of which the client does not repeat, a client with requests in flight doubles a batch: it goes
# on in a new epoch, and sends again in it what has no response yet (docs/hunt-reference.md). Kafka 4.3.0 shows the same.
IN_FLIGHT = How(topics=[ORDERS], seed_topics={ORDERS: 1}, pairs=0)
COPYING = How(topics=[COPIES], groups=[GROUP], seed_topics={COPIES: 1}, restarts=1, prepare=fill)


def _shape(
    client: str, name: str, promise: str, how: How, defects: Sequence[Defect], runtime: Callable[[], Runtime]
) -> Shape:
    def run(world: World) -> None:
        runtime().run(name, world)

    return Shape(name, promise, run, how, defects, [client])


_SENT = (Defect.REPORT_IGNORED, Defect.LAST_REPORT_ONLY, Defect.ACKS_0)
_SENT_EACH = (Defect.ERROR_SWALLOWED, Defect.NOT_IDEMPOTENT, Defect.NEW_PRODUCER)
_COPIED = (Defect.COMMIT_BEFORE, Defect.ERROR_SWALLOWED)
_COPIED_IN_TRANSACTIONS = (Defect.OFFSETS_BEFORE, Defect.OFFSETS_OUTSIDE, Defect.ABORT_IGNORED)

SHAPES = (
    _shape(JAVA, "plain producer", "at-least-once", WRITING, (*_SENT, Defect.NO_FLUSH), java),
    _shape(JAVA, "producer with requests in flight", "exactly-once", IN_FLIGHT, (Defect.REPORT_IGNORED,), java),
    _shape(JAVA, "idempotent producer", "exactly-once", WRITING, _SENT_EACH, java),
    _shape(JAVA, "transactional producer", "exactly-once", WRITING, (Defect.ABORT_IGNORED,), java),
    _shape(JAVA, "copier", "at-least-once", COPYING, _COPIED, java),
    _shape(JAVA, "transactional copier", "exactly-once", COPYING, _COPIED_IN_TRANSACTIONS, java),
    _shape(KAFKAJS, "plain producer", "at-least-once", WRITING, (*_SENT, Defect.FLUSH_RESULT_IGNORED), node),
    _shape(KAFKAJS, "idempotent producer", "exactly-once", WRITING, _SENT_EACH, node),
    _shape(KAFKAJS, "transactional producer", "exactly-once", WRITING, (Defect.ABORT_IGNORED,), node),
    _shape(KAFKAJS, "copier", "at-least-once", COPYING, _COPIED, node),
    _shape(KAFKAJS, "transactional copier", "exactly-once", COPYING, _COPIED_IN_TRANSACTIONS, node),
)
