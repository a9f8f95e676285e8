"""Copies orders, each at least once. Defect: it commits the offset before it has written the copy."""

from confluent_kafka import Consumer, Producer
from settings import CONSUMER, PRODUCER, is_end, raise_failure

producer = Producer(PRODUCER | {"enable.idempotence": True, "message.timeout.ms": 5000})
consumer = Consumer(CONSUMER)
consumer.subscribe(["orders"])
try:
    while (message := consumer.poll(1)) is None or not is_end(message):
        if message is not None:
            consumer.commit(message=message, asynchronous=False)
            producer.produce("copies", message.value(), on_delivery=raise_failure)
            producer.flush()
finally:
    consumer.close()
