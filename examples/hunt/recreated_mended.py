"""Sends orders with one idempotent producer, which does not give up before the program does."""

from confluent_kafka import Producer
from settings import EVENTS, PRODUCER, raise_failure

producer = Producer(PRODUCER | {"enable.idempotence": True, "message.timeout.ms": 0})
for event in EVENTS:
    producer.produce("orders", event, on_delivery=raise_failure)
    if producer.flush(8):
        raise SystemExit(f"{event!r} may be sent or not: another program must find out")
