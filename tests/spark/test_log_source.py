"""The data source fauxka-log: batch and streaming queries, user schemas, compared with Spark's kafka format."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from fauxka.pipeline.read.log_frame import read_log
from fauxka.pipeline.read.log_source import FauxkaLog
from fauxka.testing import Broker

from ..pipeline.logs_on_disk import GOLDEN, batch, batches, write_segment

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

ROW_COUNT = 3000
PARTITIONS = 3
STREAM_SECONDS_MAX = 120
# Columns with another name in the kafka format.
KAFKA_COLUMNS = {"timestampType": "timestamp_type"}
COMPARED = ("topic", "partition", "offset", "timestamp", "timestamp_type", "key", "value", "headers")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def broker(folder: Path) -> Iterator[Broker]:
    config = {"num.partitions": str(PARTITIONS), "group.initial.rebalance.delay.ms": "0"}
    with Broker(config=config, data_dir=folder) as broker:
        yield broker


@pytest.fixture(scope="module")
def source(spark: SparkSession, broker: Broker) -> SparkSession:
    """A session with the data source, and a topic that Spark wrote with every codec."""
    spark.dataSource.register(FauxkaLog)
    for number, codec in enumerate(("none", "gzip", "snappy", "lz4", "zstd")):
        rows = rows_to_write(spark, number * ROW_COUNT, (number + 1) * ROW_COUNT)
        options = {"kafka.bootstrap.servers": broker.bootstrap_servers, "topic": "t"}
        rows.write.format("kafka").options(**options, **{"kafka.compression.type": codec}).save()
    return spark


def rows_to_write(spark: SparkSession, first: int, end: int) -> DataFrame:
    """Rows with some null keys and values, and headers in every second one."""
    number = f.col("id").cast("string")
    header = f.struct(f.lit("number").alias("key"), number.cast("binary").alias("value"))
    return spark.range(first, end).select(
        f.when(f.col("id") % 7 > 0, number.cast("binary")).alias("key"),
        f.when(f.col("id") % 11 > 0, f.concat(f.lit("value "), number).cast("binary")).alias("value"),
        f.when(f.col("id") % 2 > 0, f.array(header)).alias("headers"),
        (f.col("id") % PARTITIONS).cast("int").alias("partition"),
    )


def log(spark: SparkSession, **options: object) -> DataFrame:
    return spark.read.format("fauxka-log").options(**{name: str(value) for name, value in options.items()}).load()


def assert_same_rows(actual: DataFrame, expected: DataFrame) -> None:
    """Compare the rows in any order, within Spark."""
    assert actual.exceptAll(expected).isEmpty()
    assert expected.exceptAll(actual).isEmpty()


def test_records_of_a_broker_equal_those_of_the_kafka_format(source: SparkSession, broker: Broker) -> None:
    options = {"kafka.bootstrap.servers": broker.bootstrap_servers, "subscribe": "t", "includeHeaders": "true"}
    expected = source.read.format("kafka").options(**options).load().withColumnsRenamed(KAFKA_COLUMNS)

    rows = log(source, bootstrap=broker.bootstrap_servers, topics="t", splitRecords=1000)

    assert rows.count() == 5 * ROW_COUNT
    assert_same_rows(rows.select(*COMPARED), expected.select(*COMPARED))


def test_records_of_files_equal_those_of_the_broker(source: SparkSession, broker: Broker, folder: Path) -> None:
    rows = log(source, path=folder, topics="t", splitBytes=20_000)

    assert rows.rdd.getNumPartitions() > PARTITIONS
    assert_same_rows(rows, log(source, bootstrap=broker.bootstrap_servers, topics="t"))


def test_records_have_their_producer_and_sequence(source: SparkSession, folder: Path) -> None:
    rows = log(source, path=folder, topics="t")

    by_producer = rows.groupBy("partition", "producer_id", "producer_epoch").agg(
        f.count("*").alias("records"), f.count_distinct("sequence").alias("sequences"), f.min("sequence").alias("first")
    )
    assert by_producer.where("producer_id < 0 or records != sequences or first != 0").isEmpty()
    assert {row["codec"] for row in rows.select("codec").distinct().collect()} == {
        "none",
        "gzip",
        "snappy",
        "lz4",
        "zstd",
    }


def test_batches_count_the_records(source: SparkSession, folder: Path) -> None:
    totals = log(source, path=folder, topics="t", view="batches").agg(
        f.sum("records_count").alias("records"), f.min("valid_crc").alias("valid"), f.max("damage").alias("damage")
    )

    assert totals.first() == (5 * ROW_COUNT, True, None)


def test_a_user_schema_selects_columns_and_types(source: SparkSession) -> None:
    schema = "value string, offset bigint not null, timestamp bigint"

    rows = source.read.format("fauxka-log").schema(schema).load(str(GOLDEN / "demo-0"))

    assert rows.schema.simpleString() == "struct<value:string,offset:bigint,timestamp:bigint>"
    assert rows.where("offset < 2").orderBy("offset").collect() == [
        ("v0", 0, 1_700_000_000_000),
        (None, 1, 1_700_000_000_005),
    ]


def test_damage_is_a_row_and_does_not_fail_the_job(source: SparkSession, tmp_path: Path) -> None:
    stored = batches(0, 50)
    stored[20] = stored[20][:-1] + b"!"
    write_segment(tmp_path / "t-0", stored, torn=batch(100)[:70])

    rows = log(source, path=tmp_path, splitBytes=1024)

    assert rows.count() == 100
    assert [row["offset"] for row in rows.where("damage is not null").orderBy("offset").collect()] == [40, 100]
    assert rows.where("not valid_crc").count() == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"path": "/nowhere"}, "BadOption: path: there is no /nowhere"),
        ({"path": str(GOLDEN), "view": "rows"}, "BadOption: view: must be records or batches, not rows"),
        ({"bootstrap": "127.0.0.1:1"}, "ConnectionFailed: broker 127.0.0.1:1: no connection: Connection refused"),
    ],
)
def test_a_bad_option_is_one_line(source: SparkSession, options: dict[str, str], words: str) -> None:
    with pytest.raises(PySparkException) as raised:
        source.read.format("fauxka-log").options(**options).load().count()

    assert any(line.endswith(words) for line in str(raised.value).splitlines())


def test_map_in_arrow_returns_the_same_rows(source: SparkSession, folder: Path) -> None:
    rows = read_log(source, {"path": str(folder), "topics": "t", "splitBytes": "20000"})

    assert_same_rows(rows, log(source, path=folder, topics="t"))
    assert read_log(source, {"path": str(folder), "topics": "t"}, ["offset", "codec"]).columns == ["offset", "codec"]


def test_a_stream_of_files_returns_each_record_once(source: SparkSession, tmp_path: Path) -> None:
    data, checkpoint, sink = tmp_path / "data", str(tmp_path / "checkpoint"), str(tmp_path / "sink")
    path = write_segment(data / "t-0", batches(0, 10))

    def run_available() -> None:
        stream = source.readStream.format("fauxka-log").load(str(data))
        query = (
            stream.select("partition", "offset")
            .writeStream.format("parquet")
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start(sink)
        )
        assert query.awaitTermination(STREAM_SECONDS_MAX)

    run_available()
    with path.open("ab") as file:
        file.write(batch(20))
    write_segment(data / "t-0", batches(22, 1))
    write_segment(data / "t-1", batches(0, 1))
    run_available()

    rows = source.read.parquet(sink).orderBy("partition", "offset").collect()
    assert [tuple(row) for row in rows] == [*((0, offset) for offset in range(24)), (1, 0), (1, 1)]


def test_a_stream_of_a_broker_continues_while_it_is_written(
    source: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    options = {"bootstrap": broker.bootstrap_servers, "topics": "t", "startingOffsets": "latest"}
    stream = source.readStream.format("fauxka-log").options(**options).load()
    query = (
        stream.writeStream.format("memory").queryName("streamed").option("checkpointLocation", str(tmp_path)).start()
    )
    try:
        query.processAllAvailable()
        written = rows_to_write(source, 90_000, 90_500)
        written.write.format("kafka").option("kafka.bootstrap.servers", broker.bootstrap_servers).option(
            "topic", "t"
        ).save()
        query.processAllAvailable()
    finally:
        query.stop()

    assert source.table("streamed").count() == 500
    assert_same_rows(source.table("streamed").select("key", "value", "headers", "partition"), written)
