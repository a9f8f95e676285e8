"""Sends orders by an idempotent producer, each in a request of its own."""

from confluent_kafka import Producer
from settings import EVENTS, PRODUCER, raise_failure


def send_orders(in_flight: int) -> None:
    """Send the orders. in_flight: how many requests are sent before the first is acknowledged, at most."""
    ours = {"batch.num.messages": 1, "max.in.flight.requests.per.connection": in_flight, "message.timeout.ms": 8000}
    producer = Producer(PRODUCER | {"enable.idempotence": True, **ours})
    for event in EVENTS:
        producer.produce("orders", event, on_delivery=raise_failure)
    producer.flush()
