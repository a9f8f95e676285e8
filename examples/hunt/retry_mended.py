"""Sends orders. The producer is idempotent, and sends again by itself what was not acknowledged."""

from confluent_kafka import Producer
from settings import EVENTS, PRODUCER, raise_failure

producer = Producer(PRODUCER | {"enable.idempotence": True, "message.timeout.ms": 8000})
for event in EVENTS:
    producer.produce("orders", event, on_delivery=raise_failure)
    producer.flush()
