"""Writes two records for each order, a debit and a credit. Defect: there may be one of them, or one of them twice."""

from confluent_kafka import Consumer, Producer
from settings import CONSUMER, PRODUCER, is_end, raise_failure

producer = Producer(PRODUCER | {"enable.idempotence": True, "message.timeout.ms": 5000})
consumer = Consumer(CONSUMER)
consumer.subscribe(["orders"])
try:
    while (message := consumer.poll(1)) is None or not is_end(message):
        if message is not None:
            for side in (b"debit", b"credit"):
                producer.produce("copies", side + b" for " + (message.value() or b""), on_delivery=raise_failure)
                producer.flush()
            consumer.commit(message=message, asynchronous=False)
finally:
    consumer.close()
