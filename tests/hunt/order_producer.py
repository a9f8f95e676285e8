"""Sends orders, and sends again what failed.

With the argument idempotent, each is in the topic once; with the argument plain, an order may be there twice.
"""

import os
import sys

from confluent_kafka import KafkaError, Producer

producer = Producer(
    {
        "bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"],
        "enable.idempotence": sys.argv[1] == "idempotent",
        "retries": 5,
        "retry.backoff.ms": 20,
        "reconnect.backoff.ms": 20,
        "socket.timeout.ms": 2000,
        "linger.ms": 0,
    }
)
failures: list[str] = []


def keep_failure(error: KafkaError | None, _: object) -> None:
    """Remember an order that was not sent."""
    if error is not None:
        failures.append(str(error))


for number in range(3):
    producer.produce("orders", b"order %d" % number, on_delivery=keep_failure)
    producer.flush()
if failures:
    raise SystemExit(f"{len(failures)} orders were not sent: {failures[0]}")
print("sent 3 orders")
