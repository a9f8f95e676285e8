"""Test helper: one record sent by confluent-kafka, as in a user's test."""

from confluent_kafka import KafkaException, Message, Producer

DELIVERED_SECONDS_MAX = 30
# Kafka's offset of a record that is in no log.
NO_OFFSET = -1


def send(bootstrap: str, topic: str = "orders", value: str = "one coffee", *, is_idempotent: bool = True) -> int:
    """Return the reported offset, NO_OFFSET without one; raises KafkaException."""
    producer = Producer(
        {"bootstrap.servers": bootstrap, "enable.idempotence": is_idempotent, "acks": "all", "retry.backoff.ms": 10}
    )
    told: list[int] = []

    def delivered(error: object, message: Message) -> None:
        if error is not None:
            raise KafkaException(error)
        offset = message.offset()
        told.append(NO_OFFSET if offset is None else offset)

    producer.produce(topic, key="order-1", value=value, on_delivery=delivered)
    assert producer.flush(DELIVERED_SECONDS_MAX) == 0
    return told[0]
