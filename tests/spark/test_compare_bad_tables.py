"""Tables as users have them: other types, nested and partitioned columns, nulls, and what is no table."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.cluster.spark_session import register
from fauxka.pipeline.compare import compare_job
from fauxka.pipeline.compare.compare_job import compare
from fauxka.pipeline.compare.compare_request import CompareRequest, check_request
from fauxka.pipeline.compare.matching import Matching
from fauxka.pipeline.compare.sides import Columns, SideArguments, parse_side
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch

from .compared_sides import write_topic

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

TOPIC = "orders"
# A text, one beyond the basic plane, a long one, bytes that are no text, and one that has been lost.
IDS = (b"plain", "größe-𝛑-訂單".encode(), b"x" * 300_000, b"\xff\x00\xfe", b"lost", b"last")
LOST_OFFSET = 4
Found = list[tuple[str, int | None]]
LOST: Found = [("lost", LOST_OFFSET)]
BY_OFFSETS = Matching("offsets")
NO_COLUMNS = Columns()
NO_OPTIONS: dict[str, str] = {}


@pytest.fixture(scope="module")
def log(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SideArguments:
    """A topic with a record of each id, in its key and its header."""
    register(spark)
    content = [Record(b"v", key, 1000, (("id", key),)) for key in IDS]
    folder = tmp_path_factory.mktemp("log")
    write_topic(folder, TOPIC, {0: [build_batch(content, BatchOptions(base_offset=0))]})
    return SideArguments(str(folder))


def arrived(spark: SparkSession) -> DataFrame:
    """Return a sink of all records except the one that is lost."""
    rows = [(TOPIC, 0, number, key) for number, key in enumerate(IDS) if number != LOST_OFFSET]
    return spark.createDataFrame(rows, "topic string, partition int, offset bigint, id binary")


def found(spark: SparkSession, left: SideArguments, right: SideArguments, matching: Matching = BY_OFFSETS) -> Found:
    """Return the kind and the offset of each finding."""
    request = CompareRequest(parse_side("left", left), parse_side("right", right), matching)
    findings = compare(spark, check_request(request)).findings.collect()
    return sorted(((row["kind"], row["offset"]) for row in findings), key=str)


def table(folder: Path, columns: Columns = NO_COLUMNS) -> SideArguments:
    return SideArguments(str(folder / "sink"), columns=columns)


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (("topic", "cast(partition as string)", "cast(offset as string)"), ("topic", "partition", "offset")),
        (("topic", "cast(partition as double)", "cast(offset as double)"), ("topic", "partition", "offset")),
        (("topic", "partition", "cast(offset as decimal(38, 10))"), ("topic", "partition", "offset")),
        (("encode(topic, 'utf-8')", "partition", "offset"), ("topic", "partition", "offset")),
        (("struct(topic, partition, offset) as kafka",), ("kafka.topic", "kafka.partition", "kafka.offset")),
        (("topic", "partition as `p-1 x`", "offset as `a.b`"), ("topic", "p-1 x", "`a.b`")),
        (("partition as P", "offset as o"), ("P", "o")),
    ],
    ids=["texts", "doubles", "decimals", "binary topic", "nested", "special names", "without a topic"],
)
def test_offset_columns_of_other_types_and_names(
    spark: SparkSession, log: SideArguments, tmp_path: Path, columns: Sequence[str], names: tuple[str, ...]
) -> None:
    named = [f"{one} as {name}" if one.endswith(")") else one for one, name in zip(columns, names, strict=False)]
    arrived(spark).selectExpr(*named).write.parquet(str(tmp_path / "sink"))

    assert found(spark, log, table(tmp_path, Columns(offsets=names))) == LOST


def test_a_table_in_folders_of_topics_and_partitions(spark: SparkSession, log: SideArguments, tmp_path: Path) -> None:
    arrived(spark).write.partitionBy("topic", "partition").parquet(str(tmp_path / "sink"))

    assert found(spark, log, table(tmp_path)) == LOST


def test_rows_without_offsets_or_with_other_texts_are_counted(
    spark: SparkSession, log: SideArguments, tmp_path: Path
) -> None:
    rows = [(TOPIC, "0", None), (TOPIC, "none", "1"), (TOPIC, "0", "9" * 30), ("other", "0", None)]
    bad = spark.createDataFrame(rows, "topic string, partition string, offset string")
    texts = arrived(spark).selectExpr("topic", "string(partition) as partition", "string(offset) as offset")
    texts.unionByName(bad).write.parquet(str(tmp_path / "sink"))

    findings = found(spark, log, table(tmp_path))

    # Of partition 0, and of no partition.
    assert findings == [*LOST, ("no_event_id", None), ("no_event_id", None)]


def test_event_ids_of_any_bytes(spark: SparkSession, log: SideArguments, tmp_path: Path) -> None:
    nested = arrived(spark).select(f.struct(f.struct("id").alias("meta")).alias("event"))
    nested.write.parquet(str(tmp_path / "sink"))

    left = replace(log, columns=Columns(event_id="header:id"))
    right = table(tmp_path, Columns(event_id="column:event.meta.id"))
    assert found(spark, left, right, Matching("event-id")) == LOST


def test_an_empty_table_lost_everything(spark: SparkSession, log: SideArguments, tmp_path: Path) -> None:
    arrived(spark).where("false").write.parquet(str(tmp_path / "sink"))

    assert found(spark, log, table(tmp_path)) == [("lost", number) for number in range(len(IDS))]


def test_an_empty_topic_has_only_extra_rows(spark: SparkSession, tmp_path: Path) -> None:
    register(spark)
    write_topic(tmp_path / "log", TOPIC, {0: []})
    arrived(spark).write.parquet(str(tmp_path / "sink"))

    findings = found(spark, SideArguments(str(tmp_path / "log")), table(tmp_path))

    assert findings == [("extra", number) for number in range(len(IDS)) if number != LOST_OFFSET]


def test_an_upserted_table_of_a_topic_with_tombstones(spark: SparkSession, tmp_path: Path) -> None:
    register(spark)
    # Each key has three versions; that of every third key is deleted in the end, and one row is lost.
    versions = [
        Record(None if version == 2 and key % 3 == 0 else b"%d" % version, b"key-%d" % key, 1000 + version)
        for version in range(3)
        for key in range(9)
    ]
    write_topic(tmp_path / "log", TOPIC, {0: [build_batch(versions, BatchOptions(base_offset=0))]})
    rows = [(f"key-{key}", "2", 18 + key) for key in range(9) if key % 3 and key != 4]
    table = spark.createDataFrame(rows, "customer string, payload string, offset bigint")
    table.withColumns({"partition": f.lit(0)}).write.parquet(str(tmp_path / "sink"))
    columns = Columns(offsets=("partition", "offset"), key="customer", value="payload", is_compacted=True)

    sides = (
        parse_side("left", SideArguments(str(tmp_path / "log"))),
        parse_side("right", SideArguments(str(tmp_path / "sink"), columns=columns)),
    )
    request = CompareRequest(*sides, Matching("offsets", is_caught_up=True))
    findings = compare(spark, check_request(request)).findings

    faults = findings.where("kind != 'expired'").collect()
    assert [(row["kind"], row["offset"]) for row in faults] == [("lost", 22)]
    assert findings.where("kind = 'expired' and cause = 'compaction'").count() == 2 * 9 + 3


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (
            Columns(offsets=("topic", "p", "offset")),
            "offset-columns: {sink} has no column p; it has at, bad, id, millis, ",
        ),
        (Columns(offsets=("topic", "bad.p", "offset")), "offset-columns: bad.p of {sink}: "),
        (
            Columns(offsets=("topic", "partition", "bad")),
            "offset-columns: bad of {sink} must be a whole number, not arr",
        ),
        (
            Columns(offsets=("topic", "partition", "at")),
            "offset-columns: at of {sink} must be a whole number, not times",
        ),
        (
            Columns(offsets=("bad", "partition", "offset")),
            "offset-columns: bad of {sink} must be the name of a topic, n",
        ),
        (
            Columns(time="millis"),
            "right-time: millis must be a time, not bigint; timestamp_millis(millis) is one of mil",
        ),
        (Columns(time="bad"), "right-time: bad must be a time, not array<int>"),
        (Columns(order="topic"), "right-order: topic must be a whole number or a timestamp, not string"),
        (Columns(where="offset"), "right-where: offset: "),
        (Columns(where="count(*) > 1"), "right-where: count(*) > 1: "),
        (Columns(value="sum(offset)"), "right: "),
        (Columns(value="a), (b"), "right-value: a), (b is not a SQL expression"),
        (Columns(key="no_such"), "right-key: no_such: "),
        (Columns(where="(select 1"), "right-where: (select 1 is not a SQL expression"),
    ],
)
def test_columns_that_cannot_be_used_are_one_line(
    spark: SparkSession, log: SideArguments, tmp_path: Path, columns: Columns, words: str
) -> None:
    sink = str(tmp_path / "sink")
    added = {"bad": f.array(f.lit(1)), "at": f.lit(datetime(2026, 1, 1)), "millis": f.lit(5).cast("bigint")}
    arrived(spark).withColumns(added).write.parquet(sink)
    # Both sides have contents, so that they are compared.
    value = columns.value or ("id" if columns.time is None else None)

    with pytest.raises(BadOption) as raised:
        found(spark, log, table(tmp_path, replace(columns, value=value)))

    assert str(raised.value).startswith(words.format(sink=sink))
    assert "\n" not in str(raised.value)


def test_a_partition_for_each_row_is_one_line(
    spark: SparkSession, log: SideArguments, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare_job, "PARTITIONS_MAX", 3)
    columns = ("topic", "cast(offset as int) as partition", "offset")
    arrived(spark).selectExpr(*columns).write.parquet(str(tmp_path / "sink"))

    with pytest.raises(BadOption, match=r"^right-offset-columns: .* has about 5 partitions of topics, and at most 3"):
        found(spark, log, table(tmp_path))


@pytest.mark.parametrize(
    ("reader", "words"),
    [
        (
            ("no-such-format", NO_OPTIONS),
            "right: {sink} cannot be read: Failed to find the data source: no-such-format",
        ),
        (("parquet", {"path": "/elsewhere"}), "right: {sink} cannot be read: "),
        ((None, NO_OPTIONS), "right: {sink} cannot be read: "),
        (("orc", NO_OPTIONS), "right: {sink} cannot be read: "),
    ],
)
def test_what_is_no_table_is_one_line(
    spark: SparkSession, log: SideArguments, tmp_path: Path, reader: tuple[str | None, dict[str, str]], words: str
) -> None:
    (tmp_path / "text.txt").write_text("no table")
    right = parse_side("right", SideArguments(str(tmp_path), *reader))
    request = CompareRequest(parse_side("left", log), right, Matching("offsets"))

    with pytest.raises(BadOption) as raised:
        compare(spark, check_request(request))

    assert str(raised.value).startswith(words.format(sink=tmp_path))
    assert "\n" not in str(raised.value)


def test_columns_whose_names_differ_in_case_only_are_one_line(
    spark: SparkSession, log: SideArguments, tmp_path: Path
) -> None:
    (tmp_path / "sink.json").write_text(json.dumps({"topic": TOPIC, "partition": 0, "offset": 1, "Offset": 2}))
    right = parse_side("right", SideArguments(str(tmp_path / "sink.json"), "json"))
    request = CompareRequest(parse_side("left", log), right, Matching("offsets"))

    with pytest.raises(BadOption) as raised:
        compare(spark, check_request(request))

    assert "\n" not in str(raised.value)
    assert "offset" in str(raised.value)
