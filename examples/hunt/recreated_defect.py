"""Sends orders with an idempotent producer. Defect: after an error it makes another one, with another producer id."""

from confluent_kafka import KafkaError, Message, Producer
from settings import EVENTS, PRODUCER


def new_producer() -> Producer:
    """Return an idempotent producer that gives up soon."""
    return Producer(PRODUCER | {"enable.idempotence": True, "message.timeout.ms": 1000})


producer = new_producer()
for event in EVENTS:
    for _ in range(5):
        failures: list[KafkaError] = []

        def remember(error: KafkaError | None, _: Message, failures: list[KafkaError] = failures) -> None:
            """Keep the error of a record."""
            if error is not None:
                failures.append(error)

        producer.produce("orders", event, on_delivery=remember)
        producer.flush()
        if not failures:
            break
        producer = new_producer()
    else:
        raise SystemExit(f"{event!r} was not sent")
