"""Send 100 orders, one at a time, each with its id as the key."""

import os

from confluent_kafka import Producer

producer = Producer(
    {
        "bootstrap.servers": os.environ["BOOTSTRAP_SERVERS"],
        "enable.idempotence": os.environ["ENABLE_IDEMPOTENCE"],
    }
)
for number in range(100):
    producer.produce("orders", key=f"order-{number}", value=b"one coffee")
    assert producer.flush(30) == 0, "no acknowledgement after 30 s"
print("sent 100 orders")
