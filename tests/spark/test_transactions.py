"""Spark reads a topic with committed and aborted transactions: read_committed returns only committed rows."""

from pathlib import Path

import pytest
from confluent_kafka import Producer
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from ..clients.client import unique_name
from ..clients.records import PARTITION_COUNT

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

TRANSACTIONS = 10
ROWS_OF_A_TRANSACTION = 30
SECONDS_MAX = 30.0
READ_COMMITTED = {"kafka.isolation.level": "read_committed"}


def value_of(transaction: int, row: int) -> str:
    return f"{transaction}/{row}"


def is_committed(transaction: int) -> bool:
    return transaction % 3 != 1


COMMITTED = {
    value_of(transaction, row)
    for transaction in range(TRANSACTIONS)
    if is_committed(transaction)
    for row in range(ROWS_OF_A_TRANSACTION)
}


@pytest.fixture
def transactions(bootstrap: str, topic: str) -> str:
    """The topic, with transactions over all of its partitions, every third of them aborted."""
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": unique_name("spark"), "linger.ms": 0})
    producer.init_transactions(SECONDS_MAX)
    for transaction in range(TRANSACTIONS):
        producer.begin_transaction()
        for row in range(ROWS_OF_A_TRANSACTION):
            producer.produce(topic, value=value_of(transaction, row), partition=row % PARTITION_COUNT)
        # The aborted records must be in the log.
        assert producer.flush(SECONDS_MAX) == 0
        if is_committed(transaction):
            producer.commit_transaction(SECONDS_MAX)
        else:
            producer.abort_transaction(SECONDS_MAX)
    return topic


def values(rows: DataFrame) -> list[str]:
    return sorted(row["text"] for row in rows.select(f.col("value").cast("string").alias("text")).collect())


def test_a_batch_query_returns_only_committed_rows(spark: SparkSession, bootstrap: str, transactions: str) -> None:
    options = {"kafka.bootstrap.servers": bootstrap, "subscribe": transactions}

    committed = spark.read.format("kafka").options(**options, **READ_COMMITTED).load()
    everything = spark.read.format("kafka").options(**options).load()

    assert values(committed) == sorted(COMMITTED)
    assert everything.count() == TRANSACTIONS * ROWS_OF_A_TRANSACTION


def test_a_streaming_query_returns_only_committed_rows(
    spark: SparkSession, bootstrap: str, transactions: str, tmp_path: Path
) -> None:
    options = {"kafka.bootstrap.servers": bootstrap, "subscribe": transactions, "startingOffsets": "earliest"}
    rows = spark.readStream.format("kafka").options(**options, **READ_COMMITTED, maxOffsetsPerTrigger="100").load()

    query = (
        rows.writeStream.format("parquet")
        .option("path", str(tmp_path / "rows"))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    ended = query.awaitTermination(int(SECONDS_MAX) * 4)

    assert ended
    assert values(spark.read.parquet(str(tmp_path / "rows"))) == sorted(COMMITTED)
