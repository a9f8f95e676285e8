"""A handler that publishes what it read: acknowledged after the handler, written by an idempotent producer."""

import asyncio
import sys

from faststream import AckPolicy, FastStream
from faststream.kafka import KafkaBroker

(bootstrap,) = sys.argv[1:]

broker = KafkaBroker(bootstrap, enable_idempotence=True)


@broker.subscriber("orders", group_id="bills", auto_offset_reset="earliest", ack_policy=AckPolicy.NACK_ON_ERROR)
@broker.publisher("bills")
async def bill(order: str) -> str:
    return f"bill for {order}"


asyncio.run(FastStream(broker).run())
