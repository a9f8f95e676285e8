"""A ledger in each format, and the errors for invalid ones."""

from pathlib import Path

import pytest
from confluent_kafka import Producer
from pyspark.sql import Row, SparkSession

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.checks.sent_ledger import LedgerIds, check_sent, read_sent
from fauxka.testing import Broker

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

LINES = """\
{"event_id": "a", "key": "k", "ordinal": 1, "topic": "t", "partition": 0, "offset": 7}

{"event_id": 5, "error": "TIMED_OUT", "sent_at": 99}
"""
SENT = [
    Row(event_id="5", key=None, ordinal=None, topic=None, partition=None, offset=None, error="TIMED_OUT"),
    Row(event_id="a", key="k", ordinal=1, topic="t", partition=0, offset=7, error=None),
]


def ledger_file(folder: Path, text: str, name: str = "sent.jsonl") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_json_lines(spark: SparkSession, tmp_path: Path) -> None:
    sent = read_sent(spark, ledger_file(tmp_path, LINES))

    assert sent.orderBy("event_id").collect() == SENT


def test_json_lines_of_any_name(spark: SparkSession, tmp_path: Path) -> None:
    sent = read_sent(spark, "json:" + ledger_file(tmp_path, LINES, "sent.txt"))

    assert sent.orderBy("event_id").collect() == SENT


def test_parquet_with_columns_of_its_own(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "sent")
    schema = "event_id bigint, partition smallint, offset int, error string, mine boolean"
    rows = spark.createDataFrame([(1, 0, 7, None, True)], schema)
    rows.write.parquet(path)

    sent = read_sent(spark, path)

    assert sent.collect() == [Row(event_id="1", key=None, ordinal=None, partition=0, offset=7, error=None)]


def test_a_topic_with_json_values(spark: SparkSession) -> None:
    with Broker() as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "enable.idempotence": True})
        for line in LINES.splitlines():
            producer.produce("ledger", line)
        assert producer.flush(30) == 0

        sent = read_sent(spark, f"topic://{broker.bootstrap_servers}/ledger")

        assert sent.orderBy("event_id").collect() == SENT


SINK = "event_id string, topic string, partition int, offset bigint, amount int"


def test_a_sink_in_parquet_is_no_ledger(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "sink")
    spark.createDataFrame([("a", "t", 0, 7, 3)], SINK).write.parquet(path)

    with pytest.raises(BadOption) as raised:
        read_sent(spark, path)

    words = "has neither ordinal nor error, and has amount: it is no ledger. fauxka compare finds what a sink lost"
    assert str(raised.value).startswith(f"sent: {path} {words}")


def test_a_sink_in_json_lines_is_no_ledger(spark: SparkSession, tmp_path: Path) -> None:
    text = ledger_file(tmp_path, '{"event_id": "a", "offset": 7, "amount": 3}\n{"event_id": "b", "amount": null}\n')

    with pytest.raises(BadOption, match=r"and has amount: it is no ledger\. fauxka compare finds "):
        read_sent(spark, text)


def test_a_sink_without_event_ids_is_no_ledger(spark: SparkSession, tmp_path: Path) -> None:
    text = ledger_file(tmp_path, '{"order": 1, "amount": 3}\n{"order": 2, "amount": 4}\n')
    path = str(tmp_path / "sink")
    spark.createDataFrame([(1, 0, 7)], "order int, partition int, offset bigint").write.parquet(path)

    for place in (text, path):
        with pytest.raises(BadOption, match=r"fauxka compare finds what a sink lost or duplicated of a topic$"):
            read_sent(spark, place)


def test_a_table_of_a_database_is_no_ledger() -> None:
    with pytest.raises(
        BadOption, match=r"^sent: must be PATH .* not jdbc:sqlite:shop\.db\. fauxka compare finds what "
    ):
        check_sent("jdbc:sqlite:shop.db")


def test_lines_of_a_ledger_may_omit_what_no_event_has(spark: SparkSession, tmp_path: Path) -> None:
    sent = read_sent(spark, ledger_file(tmp_path, '{"event_id": "a"}\n{"event_id": "b", "offset": 7}\n'))

    assert sorted(row["event_id"] for row in sent.collect()) == ["a", "b"]


ARRAYS = """\
{"event_id": ["a", 7], "key": "k"}
{"event_id": "[\\"a\\\\\\"\\", \\"b c\\"]", "key": "k"}
"""


def test_an_event_id_of_parts_is_an_array_or_its_text(spark: SparkSession, tmp_path: Path) -> None:
    sent = read_sent(spark, ledger_file(tmp_path, ARRAYS), ids=LedgerIds(parts=2))

    assert [row["event_id"] for row in sent.collect()] == ['["a","7"]', '["a\\"","b c"]']


@pytest.mark.parametrize("kind", ["array<string>", "array<int>"])
def test_an_event_id_of_parts_in_parquet_is_an_array(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    rows = spark.createDataFrame([([1, 2],)], "event_id array<int>").selectExpr(f"cast(event_id as {kind}) as event_id")
    rows.write.parquet(str(tmp_path / "sent"))

    sent = read_sent(spark, str(tmp_path / "sent"), ids=LedgerIds(parts=2))

    assert [row["event_id"] for row in sent.collect()] == ['["1","2"]']


@pytest.mark.parametrize(
    ("event_id", "words"),
    [
        ('"a"', "event_id is not an array of 2 parts: a"),
        ('["a"]', 'event_id is not an array of 2 parts: ["a"]'),
        ('["a", null]', 'event_id is not an array of 2 parts: ["a",null]'),
        ('["a", ""]', "event_id has an empty part, which --empty-id-is-an-id accepts"),
    ],
)
def test_an_event_id_without_all_parts_is_an_invalid_line(
    spark: SparkSession, tmp_path: Path, event_id: str, words: str
) -> None:
    text = ledger_file(tmp_path, f'{ARRAYS}{{"event_id": {event_id}}}\n')

    with pytest.raises(BadOption) as raised:
        read_sent(spark, text, ids=LedgerIds(parts=2))

    assert str(raised.value) == f"sent: {text} has an invalid line: {words}"


@pytest.mark.parametrize("line", ["what?", '{"key": "k"}', '{"event_id": "a", "offset": "seven"}'])
def test_an_invalid_line_is_shown(spark: SparkSession, tmp_path: Path, line: str) -> None:
    text = ledger_file(tmp_path, LINES + line + "\n")

    with pytest.raises(BadOption) as raised:
        read_sent(spark, text)

    assert str(raised.value) == f"sent: {text} has an invalid line: {line}"


def test_a_parquet_row_without_an_event_id_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    spark.createDataFrame([(None,)], "event_id string").write.parquet(str(tmp_path / "sent"))

    with pytest.raises(BadOption, match="event_id is null"):
        read_sent(spark, str(tmp_path / "sent"))


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ("id bigint", "has no column event_id; it has id"),
        ("event_id array<int>", "column event_id of .* is string or binary or .*, not array<int>"),
        ("event_id string, offset string", "column offset of .* is tinyint or .*, not string"),
    ],
)
def test_parquet_with_other_columns_is_refused(spark: SparkSession, tmp_path: Path, schema: str, words: str) -> None:
    spark.createDataFrame([], schema).write.parquet(str(tmp_path / "sent"))

    with pytest.raises(BadOption, match=words):
        read_sent(spark, str(tmp_path / "sent"))


@pytest.mark.parametrize("text", ["/nowhere/sent", "/nowhere/sent.jsonl", "", "topic://host:9092"])
def test_a_missing_ledger_is_one_line(spark: SparkSession, text: str) -> None:
    with pytest.raises(BadOption) as raised:
        read_sent(spark, text)

    assert "\n" not in str(raised.value)


def test_an_unreachable_broker_is_one_line(spark: SparkSession) -> None:
    with pytest.raises(BadOption) as raised:
        read_sent(spark, "topic://127.0.0.1:1/ledger")

    assert "127.0.0.1:1" in str(raised.value)
