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
# Without pairs: if a Produce is refused for good, the Java client begins a new epoch and sends again in it what has no
# acknowledgement yet, which may be written (docs/hunt-reference.md). A real Kafka shows the same.
IN_FLIGHT = How(topics=[ORDERS], seed_topics={ORDERS: 1}, pairs=0)
COPYING = How(topics=[COPIES], groups=[GROUP], seed_topics={COPIES: 1}, restarts=1, prepare=fill)


# The promise of each shape, and how it is hunted.
_SHAPES = {
    "plain producer": ("at-least-once", WRITING),
    "producer with requests in flight": ("exactly-once", IN_FLIGHT),
    "idempotent producer": ("exactly-once", WRITING),
    "transactional producer": ("exactly-once", WRITING),
    "copier": ("at-least-once", COPYING),
    "transactional copier": ("exactly-once", COPYING),
}
_SENT = (Defect.REPORT_IGNORED, Defect.LAST_REPORT_ONLY, Defect.ACKS_0)
_SENT_EACH = (Defect.ERROR_SWALLOWED, Defect.NOT_IDEMPOTENT, Defect.NEW_PRODUCER)
_COPIED = (Defect.COMMIT_BEFORE, Defect.ERROR_SWALLOWED)
_COPIED_IN_TRANSACTIONS = (Defect.OFFSETS_BEFORE, Defect.OFFSETS_OUTSIDE, Defect.ABORT_IGNORED)


def _shape(client: str, runtime: Callable[[], Runtime], name: str, defects: Sequence[Defect]) -> Shape:
    def run(world: World) -> None:
        runtime().run(name, world)

    promise, how = _SHAPES[name]
    return Shape(name, promise, run, how, defects, [client])


SHAPES = (
    _shape(JAVA, java, "plain producer", (*_SENT, Defect.NO_FLUSH)),
    _shape(JAVA, java, "producer with requests in flight", (Defect.REPORT_IGNORED,)),
    _shape(JAVA, java, "idempotent producer", _SENT_EACH),
    _shape(JAVA, java, "transactional producer", (Defect.ABORT_IGNORED,)),
    _shape(JAVA, java, "copier", _COPIED),
    _shape(JAVA, java, "transactional copier", _COPIED_IN_TRANSACTIONS),
    _shape(KAFKAJS, node, "plain producer", (*_SENT, Defect.FLUSH_RESULT_IGNORED)),
    _shape(KAFKAJS, node, "idempotent producer", _SENT_EACH),
    _shape(KAFKAJS, node, "transactional producer", (Defect.ABORT_IGNORED,)),
    _shape(KAFKAJS, node, "copier", _COPIED),
    _shape(KAFKAJS, node, "transactional copier", _COPIED_IN_TRANSACTIONS),
)
