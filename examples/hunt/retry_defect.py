"""Sends orders, and sends again what was not acknowledged. Defect: what was stored is stored again."""

from confluent_kafka import KafkaError, Message, Producer
from settings import EVENTS, PRODUCER

producer = Producer(PRODUCER | {"retries": 0})


def send(event: bytes, attempts: int = 5) -> None:
    """Send an event until it is acknowledged. Raises RuntimeError after the last attempt."""
    failures: list[KafkaError] = []

    def remember(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            failures.append(error)

    producer.produce("orders", event, on_delivery=remember)
    producer.flush()
    if failures and attempts == 1:
        raise RuntimeError(f"{event!r} was not sent: {failures[0]}")
    if failures:
        send(event, attempts - 1)


for each in EVENTS:
    send(each)
