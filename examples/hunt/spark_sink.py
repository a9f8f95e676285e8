"""Writes orders with Spark's format kafka."""

import os

from settings import EVENTS

from fauxka.pipeline.cluster.spark_session import start_session

# One attempt of the producer: its request.timeout.ms may not be longer than its delivery.timeout.ms.
TIMEOUT_MS = "1500"
# Each order in a request of its own, so that all runs have the same requests, and orders stay in their order.
ONE_BY_ONE = {"kafka.batch.size": "1", "kafka.max.in.flight.requests.per.connection": "1"}


def write_orders(attempts: int) -> None:
    """Write the orders in one task. attempts: how often Spark starts it before the job fails."""
    spark = start_session(f"local[1,{attempts}]", with_kafka=True)
    orders = spark.createDataFrame([(event,) for event in EVENTS], "value binary").coalesce(1)
    options = {
        "kafka.bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"],
        "kafka.request.timeout.ms": TIMEOUT_MS,
        "kafka.delivery.timeout.ms": TIMEOUT_MS,
        **ONE_BY_ONE,
        "topic": "orders",
    }
    orders.write.format("kafka").options(**options).save()
