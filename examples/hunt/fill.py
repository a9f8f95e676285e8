"""Writes three orders, for the programs that copy them."""

from confluent_kafka import Producer
from settings import EVENTS, PRODUCER, raise_failure

producer = Producer(PRODUCER)
for event in EVENTS:
    producer.produce("orders", event, on_delivery=raise_failure)
assert producer.flush(10) == 0
