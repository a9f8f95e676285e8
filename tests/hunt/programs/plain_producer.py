"""Sends orders without idempotence, and sends again what failed: an order may be in the topic twice."""

import os

from confluent_kafka import Producer

producer = Producer(
    {
        "bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"],
        "enable.idempotence": False,
        "retries": 5,
        "retry.backoff.ms": 20,
        "reconnect.backoff.ms": 20,
        "socket.timeout.ms": 2000,
        "linger.ms": 0,
    }
)
failures = []
for number in range(3):
    producer.produce("orders", b"order %d" % number, on_delivery=lambda error, _: error and failures.append(error))
    producer.flush()
if failures:
    raise SystemExit(f"{len(failures)} orders were not sent: {failures[0]}")
