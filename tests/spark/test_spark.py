"""Spark's kafka format: batch and streaming queries, timestamps and errors."""

import json
import time
from pathlib import Path

import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from ..clients.client import eventually, unique_name
from ..clients.client_contract import batches_of
from ..clients.confluent_client import ConfluentClient
from ..clients.records import FIRST_TIMESTAMP_MS, PARTITION_COUNT, TIMESTAMP_STEP_MS, thousand_records

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

ROW_COUNT = 10_000
STREAM_SECONDS_MAX = 120

HEADER = StructType([StructField("key", StringType()), StructField("value", BinaryType())])
# The columns of the kafka format with headers.
KAFKA_SCHEMA = StructType(
    [
        StructField("key", BinaryType()),
        StructField("value", BinaryType()),
        StructField("topic", StringType()),
        StructField("partition", IntegerType()),
        StructField("offset", LongType()),
        StructField("timestamp", TimestampType()),
        StructField("timestampType", IntegerType()),
        StructField("headers", ArrayType(HEADER)),
    ]
)
SENT_COLUMNS = ("key", "value", "headers", "partition")


def numbered_rows(spark: SparkSession, first: int, end: int) -> DataFrame:
    """Return rows with key, value, headers and partition, no two alike."""
    number = f.col("id").cast("string")
    header: Column = f.struct(f.lit("number").alias("key"), number.cast("binary").alias("value"))
    return spark.range(first, end).select(
        f.concat(f.lit("key-"), (f.col("id") % 50).cast("string")).cast("binary").alias("key"),
        f.concat(f.lit("value "), number).cast("binary").alias("value"),
        f.array(header).alias("headers"),
        (f.col("id") % PARTITION_COUNT).cast("int").alias("partition"),
    )


def write(rows: DataFrame, bootstrap: str, topic: str, **more: str) -> None:
    """Append rows to a topic. Spark's producer is idempotent by default."""
    rows.write.format("kafka").options(**{"kafka.bootstrap.servers": bootstrap, "topic": topic, **more}).save()


def read(spark: SparkSession, bootstrap: str, topic: str, **options: str) -> DataFrame:
    """Return the records of a topic, by default from its beginning to its end."""
    base = {"kafka.bootstrap.servers": bootstrap, "subscribe": topic, "includeHeaders": "true"}
    return spark.read.format("kafka").options(**base, **options).load()


def assert_same_rows(actual: DataFrame, expected: DataFrame) -> None:
    """Compare the rows in any order, within Spark."""
    assert actual.count() == expected.count()
    assert actual.exceptAll(expected).isEmpty()
    assert expected.exceptAll(actual).isEmpty()


@pytest.mark.slice
def test_ten_thousand_rows_are_read_back_equal(spark: SparkSession, bootstrap: str, topic: str) -> None:
    sent = numbered_rows(spark, 0, ROW_COUNT)

    write(sent, bootstrap, topic)
    stored = read(spark, bootstrap, topic)

    assert stored.schema == KAFKA_SCHEMA
    assert_same_rows(stored.select(*SENT_COLUMNS), sent)
    offsets = stored.groupBy("partition").agg(f.sort_array(f.collect_list("offset")).alias("offsets")).collect()
    assert {row["partition"]: row["offsets"] for row in offsets} == {
        partition: list(range(size)) for partition, size in enumerate([3_334, 3_333, 3_333])
    }


def test_the_sink_writes_as_idempotent_producer(spark: SparkSession, bootstrap: str, topic: str) -> None:
    write(numbered_rows(spark, 0, 300), bootstrap, topic)

    assert all(batch.producer_id >= 0 and batch.base_sequence >= 0 for batch in batches_of(bootstrap, topic))


def test_a_read_committed_query_returns_records_outside_transactions(
    spark: SparkSession, bootstrap: str, topic: str
) -> None:
    sent = numbered_rows(spark, 0, 300)
    write(sent, bootstrap, topic)

    stored = read(spark, bootstrap, topic, **{"kafka.isolation.level": "read_committed"})

    assert_same_rows(stored.select(*SENT_COLUMNS), sent)


def test_timestamps_and_headers_are_those_the_producer_gave(
    spark: SparkSession, client: ConfluentClient, bootstrap: str, topic: str
) -> None:
    sent = thousand_records()
    client.produce(topic, sent)

    stored = read(spark, bootstrap, topic).orderBy("timestamp").collect()

    assert [row["timestampType"] for row in stored] == [0] * len(sent)
    assert [round(row["timestamp"].timestamp() * 1000) for row in stored] == [record.timestamp_ms for record in sent]
    headers = [tuple((each["key"], each["value"]) for each in row["headers"] or ()) for row in stored]
    assert [tuple((name, bytes(value)) for name, value in each) for each in headers] == [
        record.headers for record in sent
    ]


def test_a_batch_begins_and_ends_at_the_offsets_of_timestamps(
    spark: SparkSession, client: ConfluentClient, bootstrap: str, topic: str
) -> None:
    sent = thousand_records()
    client.produce(topic, sent)

    def at_record(number: int) -> str:
        timestamp_ms = FIRST_TIMESTAMP_MS + number * TIMESTAMP_STEP_MS
        return json.dumps({topic: {str(partition): timestamp_ms for partition in range(PARTITION_COUNT)}})

    stored = read(
        spark, bootstrap, topic, startingOffsetsByTimestamp=at_record(400), endingOffsetsByTimestamp=at_record(700)
    )

    timestamps = sorted(round(row["timestamp"].timestamp() * 1000) for row in stored.select("timestamp").collect())
    assert timestamps == [record.timestamp_ms for record in sent[400:700]]


def started_stream(
    spark: SparkSession, bootstrap: str, topic: str, folder: Path, *, to_the_end: bool
) -> StreamingQuery:
    """Start the stream from a topic to parquet files, or continue it from its checkpoint."""
    options = {
        "kafka.bootstrap.servers": bootstrap,
        "subscribe": topic,
        "startingOffsets": "earliest",
        "includeHeaders": "true",
        "maxOffsetsPerTrigger": "600",
    }
    source = spark.readStream.format("kafka").options(**options).load()
    sink = source.writeStream.format("parquet").option("checkpointLocation", str(folder / "checkpoint"))
    triggered = sink.trigger(availableNow=True) if to_the_end else sink.trigger(processingTime="0 seconds")
    return triggered.start(str(folder / "rows"))


@pytest.mark.slice
def test_a_stream_that_was_stopped_and_resumed_writes_each_row_once(
    spark: SparkSession, bootstrap: str, topic: str, tmp_path: Path
) -> None:
    write(numbered_rows(spark, 0, 6_000), bootstrap, topic)
    first = started_stream(spark, bootstrap, topic, tmp_path, to_the_end=False)
    wait_for_batches(first, 2)
    first.stop()
    rows_before = spark.read.parquet(str(tmp_path / "rows")).count()

    write(numbered_rows(spark, 6_000, ROW_COUNT), bootstrap, topic)
    second = started_stream(spark, bootstrap, topic, tmp_path, to_the_end=True)
    assert second.awaitTermination(STREAM_SECONDS_MAX)

    assert 0 < rows_before < 6_000, "the stream was stopped between its beginning and its end"
    written = spark.read.parquet(str(tmp_path / "rows"))
    assert_same_rows(written.select(*SENT_COLUMNS), numbered_rows(spark, 0, ROW_COUNT))
    assert written.select("partition", "offset").distinct().count() == ROW_COUNT


def wait_for_batches(query: StreamingQuery, count: int) -> None:
    """Wait until that many batches with rows are finished."""
    deadline = time.monotonic() + STREAM_SECONDS_MAX
    while sum(progress["numInputRows"] > 0 for progress in query.recentProgress) < count:
        assert query.isActive, query.exception()
        assert time.monotonic() < deadline, f"no {count} batches in {STREAM_SECONDS_MAX} s"
        time.sleep(0.05)


def test_reading_an_unknown_topic_fails_with_a_reason(
    spark: SparkSession, client: ConfluentClient, bootstrap: str
) -> None:
    missing = unique_name("missing")

    with pytest.raises(Exception, match="UnknownTopicOrPartitionException"):
        read(spark, bootstrap, missing).count()

    assert missing not in client.partition_counts()


def test_writing_to_an_unknown_topic_fails_with_a_reason(
    spark: SparkSession, client: ConfluentClient, bootstrap: str
) -> None:
    missing = unique_name("missing")

    with pytest.raises(Exception, match=f"Topic {missing} not present in metadata"):
        write(numbered_rows(spark, 0, 3).drop("partition"), bootstrap, missing, **{"kafka.max.block.ms": "1000"})

    assert not eventually(lambda: missing in client.partition_counts(), False)
