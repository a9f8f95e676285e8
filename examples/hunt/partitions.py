"""Sends orders to two partitions by an idempotent producer, each in a request of its own."""

from confluent_kafka import Producer
from settings import EVENTS, PRODUCER, raise_failure

PARTITIONS = (0, 1)


def send_orders(in_flight: int) -> None:
    """Send the orders to both partitions. in_flight: how many requests wait for their response, at most."""
    ours = {"batch.num.messages": 1, "max.in.flight.requests.per.connection": in_flight, "message.timeout.ms": 8000}
    producer = Producer(PRODUCER | {"enable.idempotence": True, **ours})
    for event in EVENTS:
        for partition in PARTITIONS:
            producer.produce("orders", event, partition=partition, on_delivery=raise_failure)
        if event == EVENTS[0]:
            # A broker that has no batch of the producer yet accepts any sequence as the first one.
            producer.flush()
    producer.flush()
