"""A broker for a test: start, address, what goes wrong and when, what really happened, reset, stop.

with Broker({"num.partitions": "3"}) as broker:
    with broker.faults.lost_ack(topic="orders"):
        send_order(broker.bootstrap_servers)
    assert broker.verdict("orders").batches.appended_once == 1

Broker runs in a thread, AsyncBroker on the test's own event loop. All that the admin API can do can be done here, by
the same names and with the same objects.
"""

from .async_broker import AsyncBroker
from .broker import Broker

__all__ = ["AsyncBroker", "Broker"]
