"""Sends the orders of an outbox, each at least once. Defect: it marks them as sent before they are acknowledged."""

from confluent_kafka import Producer
from outbox import opened
from settings import PRODUCER, raise_failure

producer = Producer(PRODUCER | {"enable.idempotence": True, "message.timeout.ms": 5000})
outbox = opened()
for number, event in outbox.execute("SELECT id, event FROM orders WHERE NOT is_sent ORDER BY id").fetchall():
    producer.produce("orders", event, on_delivery=raise_failure)
    outbox.execute("UPDATE orders SET is_sent = 1 WHERE id = ?", (number,))
    producer.flush()
