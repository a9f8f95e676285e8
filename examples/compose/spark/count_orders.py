"""Count the orders in the topic, and the copies of those that were appended twice."""

import os

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def session() -> SparkSession:
    """Return a session with Spark's format kafka."""
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    return builder.config("spark.jars.packages", "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0").getOrCreate()


def main() -> None:
    """Read the topic up to its present end, and print one line."""
    records = (
        session()
        .read.format("kafka")
        .option("kafka.bootstrap.servers", os.environ["BOOTSTRAP_SERVERS"])
        .option("subscribe", "orders")
        .load()
    )
    orders = records.groupBy(F.col("key").cast("string")).count()
    counted = orders.agg(F.count("*").alias("orders"), F.sum(F.col("count") - 1).alias("duplicates")).first()
    assert counted is not None
    print(f"{counted['orders']} orders, {counted['duplicates']} appended twice")


if __name__ == "__main__":
    main()
