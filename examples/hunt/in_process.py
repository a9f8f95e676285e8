"""Hunts a function, eight runs at a time. The report ends with the number of runs and the seconds that they took."""

import sys

from confluent_kafka import KafkaError, Message, Producer

from fauxka.testing import Broker, hunt, report_text

# Short enough for a hunt: a response that does not come is waited for this long.
TIMES_MS = {"socket.timeout.ms": 1000, "request.timeout.ms": 1000, "retry.backoff.ms": 20, "reconnect.backoff.ms": 20}


def raise_failure(error: KafkaError | None, _: Message) -> None:
    """Raise RuntimeError if an order was not written."""
    if error is not None:
        raise RuntimeError(f"an order was not written: {error}")


def send_orders(broker: Broker) -> None:
    """Write two orders, one after the other. Raises RuntimeError."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "enable.idempotence": True, **TIMES_MS})
    for order in (b"one coffee", b"two teas"):
        producer.produce("orders", order, on_delivery=raise_failure)
        producer.flush()


result = hunt(send_orders, topics=["orders"], budget="60s", jobs=8)
print(report_text(result))
sys.exit(bool(result.findings))
