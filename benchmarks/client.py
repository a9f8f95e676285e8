"""What a real client gets: `python -m benchmarks --client`.

confluent-kafka produces mixed records with idempotence, and consumes them. The first pass on a broker is not measured.
"""

from __future__ import annotations

import random
import time

from confluent_kafka import Consumer, Producer

from .batch_content import KEY_BYTES, SEED, VALUE_BYTES
from .comparison import compare
from .load_program import LoadError
from .measurement import Figures
from .targets import RunningTarget

MESSAGES = 200_000
DISTINCT_MESSAGES = 1_000
LINGER_MS = 5
CONSUMED_TOGETHER = 10_000
WAIT_SECONDS_MAX = 60.0
CODECS = ("none", "lz4")


def main(round_count: int) -> dict[str, Figures]:
    """Measure each broker; print and return the medians."""
    return compare(round_count, _measure)


def _measure(broker: RunningTarget, _target_name: str) -> Figures:
    # The first pass is not measured.
    _figures(broker)
    return _figures(broker)


def _figures(broker: RunningTarget) -> Figures:
    figures: Figures = {}
    for codec in CODECS:
        topic = f"client-{codec}-{time.time_ns()}"
        figures[f"confluent-kafka, {codec}: produced k messages/s"] = _produce(broker.port, topic, codec) / 1000
        figures[f"confluent-kafka, {codec}: consumed k messages/s"] = _consume(broker.port, topic) / 1000
    return figures


def _produce(port: int, topic: str, codec: str) -> float:
    """Return the messages a second from the first to the last acknowledgement."""
    draw = random.Random(SEED)
    messages = [(bytes(draw.randint(*VALUE_BYTES)), b"k" * draw.randint(*KEY_BYTES)) for _ in range(DISTINCT_MESSAGES)]
    producer = Producer(
        {
            "bootstrap.servers": f"127.0.0.1:{port}",
            "enable.idempotence": True,
            "linger.ms": LINGER_MS,
            "compression.type": codec,
            "queue.buffering.max.messages": 2 * MESSAGES,
        }
    )
    # Creates the topic and the producer id.
    producer.produce(topic, b"first")
    producer.flush(WAIT_SECONDS_MAX)
    start = time.perf_counter()
    for number in range(MESSAGES):
        value, key = messages[number % DISTINCT_MESSAGES]
        producer.produce(topic, value, key)
    if producer.flush(WAIT_SECONDS_MAX):
        raise LoadError(f"not all messages were acknowledged in {WAIT_SECONDS_MAX} s")
    return MESSAGES / (time.perf_counter() - start)


def _consume(port: int, topic: str) -> float:
    """Return the messages a second after the first answer."""
    consumer = Consumer(
        {
            "bootstrap.servers": f"127.0.0.1:{port}",
            "group.id": topic,
            "auto.offset.reset": "earliest",
            # A full queue would pause the consumer for a second.
            "queued.min.messages": 2 * MESSAGES,
        }
    )
    consumer.subscribe([topic])
    try:
        first = len(consumer.consume(CONSUMED_TOGETHER, WAIT_SECONDS_MAX))
        start, count = time.perf_counter(), first
        while count < MESSAGES:
            found = consumer.consume(CONSUMED_TOGETHER, WAIT_SECONDS_MAX)
            if not found:
                raise LoadError(f"{count} of {MESSAGES} messages were consumed")
            count += len(found)
        return (count - first) / (time.perf_counter() - start)
    finally:
        consumer.close()
