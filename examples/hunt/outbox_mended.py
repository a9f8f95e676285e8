"""Sends the orders of an outbox, each at least once: it marks them as sent when they are acknowledged."""

from confluent_kafka import Producer
from outbox import opened
from settings import PRODUCER, raise_failure

producer = Producer(PRODUCER | {"enable.idempotence": True, "message.timeout.ms": 5000})
outbox = opened()
for number, event in outbox.execute("SELECT id, event FROM orders WHERE NOT is_sent ORDER BY id").fetchall():
    producer.produce("orders", event, on_delivery=raise_failure)
    producer.flush()
    outbox.execute("UPDATE orders SET is_sent = 1 WHERE id = ?", (number,))
