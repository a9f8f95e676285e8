"""Copies orders, each once. Defect: after a lost commit it copies again what it has copied."""

from confluent_kafka import Consumer, Producer
from settings import CONSUMER, PRODUCER, is_end, raise_failure

producer = Producer(PRODUCER | {"enable.idempotence": True, "message.timeout.ms": 5000})
consumer = Consumer(CONSUMER)
consumer.subscribe(["orders"])
try:
    while (message := consumer.poll(1)) is None or not is_end(message):
        if message is not None:
            producer.produce("copies", message.value(), on_delivery=raise_failure)
            producer.flush()
            consumer.commit(message=message, asynchronous=False)
finally:
    consumer.close()
