"""Writes orders with Spark's format kafka."""

import os

from settings import EVENTS

from fauxka.pipeline.cluster.spark_session import start_session

# One attempt of the producer: its request.timeout.ms may not be longer than its delivery.timeout.ms.
TIMEOUT_MS = "1500"


def write_orders(attempts: int) -> None:
    """Write the orders in one task. attempts: how often Spark starts it before the job fails."""
    spark = start_session(f"local[1,{attempts}]", with_kafka=True)
    orders = spark.createDataFrame([(event,) for event in EVENTS], "value binary").coalesce(1)
    options = {
        "kafka.bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"],
        "kafka.request.timeout.ms": TIMEOUT_MS,
        "kafka.delivery.timeout.ms": TIMEOUT_MS,
        "topic": "orders",
    }
    orders.write.format("kafka").options(**options).save()
