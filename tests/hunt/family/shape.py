"""What the programs of one shape have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fauxka.testing.hunting.arguments import How

from .defect import Defect
from .world import World

CONFLUENT, AIOKAFKA, KAFKA_PYTHON = OF_PYTHON = ("confluent-kafka", "aiokafka", "kafka-python")
FRANZ_GO, JAVA, KAFKAJS = OF_OTHER_LANGUAGES = ("franz-go", "Java", "kafkajs")
# What a machine must have for the programs of another language.
NEEDED = {FRANZ_GO: ("go",), JAVA: ("java", "javac", "mvn"), KAFKAJS: ("node", "npm")}
CLIENTS = (*OF_PYTHON, *OF_OTHER_LANGUAGES)
# aiokafka has one request for a partition in flight.
WITH_MANY_IN_FLIGHT = (CONFLUENT, KAFKA_PYTHON)
# What a program can overlook whenever it has sent something.
OVERLOOKED = (Defect.REPORT_IGNORED, Defect.FLUSH_RESULT_IGNORED, Defect.ERROR_SWALLOWED)
# A leader is lost with what it alone has acknowledged.
_NODES = {Defect.ACKS_1: 3}


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A kind of program. It promises the same with each of its defects, and without.

    run: the program. how: how it is hunted. clients: with which it exists. limited: for some defects with fewer.
    """

    name: str
    promise: str
    run: Callable[[World], None]
    how: How
    defects: Sequence[Defect]
    clients: Sequence[str] = OF_PYTHON
    limited: Mapping[Defect, Sequence[str]] = field(default_factory=dict[Defect, Sequence[str]])

    def clients_of(self, defect: Defect) -> Sequence[str]:
        """Return the clients with which the defect makes sense."""
        return self.limited.get(defect, self.clients)

    @staticmethod
    def nodes_of(defect: Defect) -> int:
        """Return how many nodes the brokers have in which the defect can be seen."""
        return _NODES.get(defect, 1)
