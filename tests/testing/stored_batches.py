"""Appends batches of any content to a broker in process, without a client."""

from __future__ import annotations

from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.testing import Broker

TOPIC = "orders"
PLAIN = BatchOptions()


def append(broker: Broker, *values: bytes, options: BatchOptions = PLAIN, partition: int = 0) -> None:
    """Append a batch with a record for each value."""
    append_batch(broker, build_batch([Record(value, timestamp=1000) for value in values], options), partition)


def append_batch(broker: Broker, batch: bytes, partition: int = 0) -> None:
    def append_it() -> None:
        replicas = broker.cluster.node.replicas
        stored = replicas.partition_of(TOPIC, partition)
        validated = stored.log.validate_in_thread(memoryview(batch), broker.cluster.clock.now_ms(), lambda: None)
        stored.append(memoryview(batch), broker.cluster.clock.now_ms(), validated)

    broker.call(append_it)
