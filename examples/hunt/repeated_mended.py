"""Copies orders, each once: the key of a copy is the offset of its order, and what is copied already is left out.

One copy of the program runs at a time, so nothing is written between the look at the copies and the end.
"""

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from settings import CONSUMER, PRODUCER, is_end, raise_failure


def copied_offsets() -> set[bytes]:
    """Return the offsets of the orders that are copied."""
    reader = Consumer(CONSUMER | {"group.id": "look"})
    reader.assign([TopicPartition("copies", 0, OFFSET_BEGINNING)])
    found: set[bytes] = set()
    while (message := reader.poll(1)) is None or not is_end(message):
        if message is not None:
            found.add(message.key() or b"")
    reader.close()
    return found


producer = Producer(PRODUCER | {"enable.idempotence": True, "message.timeout.ms": 5000})
copied = copied_offsets()
consumer = Consumer(CONSUMER)
consumer.subscribe(["orders"])
try:
    while (message := consumer.poll(1)) is None or not is_end(message):
        if message is not None:
            offset = str(message.offset()).encode()
            if offset not in copied:
                copied.add(offset)
                producer.produce("copies", message.value(), key=offset, on_delivery=raise_failure)
                producer.flush()
            consumer.commit(message=message, asynchronous=False)
finally:
    consumer.close()
