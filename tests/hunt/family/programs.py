"""The programs of the family: each client, shape and defect that make sense together, and the twins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fauxka.testing import Broker
from fauxka.testing.hunting.arguments import How

from .clients.aiokafka_client import AiokafkaClient
from .clients.client import Client
from .clients.confluent_client import ConfluentClient
from .clients.kafka_python_client import KafkaPythonClient
from .defect import Defect
from .shape import CLIENTS, Shape
from .shapes import (
    at_most_once_producer,
    batch_job,
    change_relay,
    copier,
    dead_letters,
    franz_go,
    idempotent_producer,
    keyed_producer,
    other_languages,
    outbox_relay,
    plain_producer,
    readers,
    request_handler,
    resuming_writer,
    totals,
    transactional_copier,
    transactional_producer,
    two_topics,
    worker,
)
from .world import World

CLIENT_OF: dict[str, type[Client]] = {
    client.name: client for client in (ConfluentClient, AiokafkaClient, KafkaPythonClient)
}
SHAPES = (
    plain_producer.SHAPE,
    idempotent_producer.SHAPE,
    keyed_producer.IN_ORDER,
    keyed_producer.TABLE,
    at_most_once_producer.SHAPE,
    transactional_producer.SHAPE,
    resuming_writer.SHAPE,
    two_topics.SHAPE,
    copier.SHAPE,
    transactional_copier.SHAPE,
    readers.AT_LEAST_ONCE,
    readers.ONCE,
    readers.AT_MOST_ONCE,
    readers.LATE_COMMITS,
    worker.SHAPE,
    outbox_relay.SHAPE,
    outbox_relay.WITH_IDS,
    request_handler.SHAPE,
    change_relay.SHAPE,
    batch_job.SHAPE,
    totals.SHAPE,
    dead_letters.SHAPE,
    franz_go.PRODUCER,
    franz_go.SYNC_PRODUCER,
    franz_go.COPIER,
    *other_languages.SHAPES,
)
# Sessions are short, so that a trial does not wait for one.
CONFIG = {"group.min.session.timeout.ms": "1"}


@dataclass(frozen=True, slots=True)
class Program:
    """A client, a shape, and a defect; None for the twin. nodes: of its brokers."""

    client: str
    shape: Shape
    defect: Defect | None
    nodes: int

    @property
    def name(self) -> str:
        """Such as "aiokafka, copier: COMMIT_BEFORE"."""
        nodes = f", {self.nodes} nodes" if self.nodes > 1 else ""
        return f"{self.client}, {self.shape.name}: {'twin' if self.defect is None else self.defect.name}{nodes}"

    @property
    def is_twin(self) -> bool:
        """Whether it has no defect."""
        return self.defect is None

    @property
    def twin(self) -> Program:
        """The same without the defect, which promises the same."""
        return replace(self, defect=None)

    @property
    def how(self) -> How:
        """How it is hunted."""
        how = How(expect=self.shape.promise, nodes=self.nodes, config=CONFIG)
        how.update(self.shape.how)
        return how

    def run(self, broker: Broker) -> None:
        """Run it. Raises Failed."""
        client = CLIENT_OF.get(self.client)
        self.shape.run(World(None if client is None else client(), broker, self.defect))


PROGRAMS: Sequence[Program] = [
    Program(client, shape, defect, shape.nodes_of(defect))
    for shape in SHAPES
    for defect in shape.defects
    for client in CLIENTS
    if client in shape.clients_of(defect)
]
# Programs with several defects have one twin.
TWINS: Sequence[Program] = list(dict.fromkeys(program.twin for program in PROGRAMS))
