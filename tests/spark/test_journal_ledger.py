"""The journal of a broker compared with its log: wrong acknowledgements and errors."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from confluent_kafka import Producer
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as f

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.checks import journal_ledger
from fauxka.pipeline.checks.journal_ledger import audit_journal, journal_event_id, read_journal
from fauxka.pipeline.read.log_frame import read_log
from fauxka.testing import Broker

from ..serving_process import serving

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

TOPIC = "orders"
COUNT = 5


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as broker:
        yield broker


def send(bootstrap: str, *, is_idempotent: bool = True, retries: int = 5, acks: str = "all") -> None:
    """Send one batch and ignore its outcome."""
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "enable.idempotence": is_idempotent,
            "retries": retries,
            "acks": acks,
            "linger.ms": 500,
            "retry.backoff.ms": 10,
        }
    )
    # Without metadata the flush would send the events in more than one batch.
    producer.list_topics(TOPIC, timeout=30)
    for number in range(COUNT):
        producer.produce(TOPIC, f"value {number}", partition=0)
    assert producer.flush(30) == 0


def journal_file(broker: Broker, folder: Path) -> str:
    """The journal as one entry a line."""
    path = folder / "journal.jsonl"
    path.write_bytes(msgspec.json.Encoder().encode_lines(broker.journal.entries()))
    return str(path)


def log(spark: SparkSession, bootstrap: str) -> DataFrame:
    return read_log(spark, {"bootstrap": bootstrap, "topics": TOPIC})


def findings(spark: SparkSession, broker: Broker, folder: Path) -> list[Row]:
    """The kind, the number and the place of each finding."""
    found = audit_journal(log(spark, broker.bootstrap_servers), read_journal(spark, journal_file(broker, folder)))
    counts = found.groupBy("kind").agg(f.count("*").alias("events"), f.min("offset").alias("first"))
    return counts.orderBy("kind").collect()


def test_acknowledged_and_stored_records_are_no_finding(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    send(broker.bootstrap_servers)
    send(broker.bootstrap_servers, is_idempotent=False)
    send(broker.bootstrap_servers, is_idempotent=False, acks="0")

    journal = read_journal(spark, journal_file(broker, tmp_path))
    records = log(spark, broker.bootstrap_servers)

    assert audit_journal(records, journal).isEmpty()
    assert records.select(journal_event_id()).exceptAll(journal.select("event_id")).isEmpty()
    assert journal.where("error is null").count() == 3 * COUNT


def test_a_lost_response_with_a_deduplicated_retry_is_no_finding(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    with broker.faults.lost_ack() as lost:
        send(broker.bootstrap_servers)

    assert lost.hits == 1
    assert findings(spark, broker, tmp_path) == []


def test_a_lost_response_without_a_retry_is_an_ambiguous_success(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    with broker.faults.lost_ack():
        send(broker.bootstrap_servers, is_idempotent=False, retries=0)

    assert findings(spark, broker, tmp_path) == [("ambiguous_success", COUNT, 0)]


def test_an_error_for_stored_records_is_an_ambiguous_success(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    send(broker.bootstrap_servers)
    with broker.faults.false_error("MESSAGE_TOO_LARGE"):
        send(broker.bootstrap_servers)

    assert findings(spark, broker, tmp_path) == [("ambiguous_success", COUNT, COUNT)]


@pytest.mark.parametrize("is_idempotent", [True, False])
def test_a_success_for_records_that_are_not_stored_is_a_loss(
    spark: SparkSession, broker: Broker, tmp_path: Path, is_idempotent: bool
) -> None:
    send(broker.bootstrap_servers)
    with broker.faults.false_success():
        send(broker.bootstrap_servers, is_idempotent=is_idempotent)

    assert findings(spark, broker, tmp_path) == [("lost", COUNT, None)]


def test_refused_records_are_no_finding(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    send(broker.bootstrap_servers)
    with broker.faults.refuse("MESSAGE_TOO_LARGE"):
        send(broker.bootstrap_servers)

    assert findings(spark, broker, tmp_path) == []


def test_records_older_than_the_journal_are_no_finding(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    send(broker.bootstrap_servers)
    broker.reset("journal")
    send(broker.bootstrap_servers)

    assert findings(spark, broker, tmp_path) == []


def test_a_journal_over_http_is_read_page_by_page(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_ledger, "PAGE_ENTRIES_MAX", 1)
    with serving(tmp_path, "--admin-port", "0", "--admin-token", "secret") as broker:
        assert broker.admin is not None
        send(broker.bootstrap)
        send(broker.bootstrap)

        journal = read_journal(spark, broker.admin, "secret")

        assert journal.orderBy("offset").select("offset").collect() == [(offset,) for offset in range(2 * COUNT)]
        with pytest.raises(BadOption, match="401 Unauthorized"):
            read_journal(spark, broker.admin)


def test_a_page_and_a_list_are_read_from_files_too(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    send(broker.bootstrap_servers)
    entries = broker.journal.entries()
    (tmp_path / "page.json").write_bytes(msgspec.json.encode({"items": entries, "next": None, "dropped": 0}))
    (tmp_path / "list.json").write_bytes(msgspec.json.format(msgspec.json.encode(entries)))

    lines = read_journal(spark, journal_file(broker, tmp_path))

    assert read_journal(spark, str(tmp_path / "page.json")).collect() == lines.collect()
    assert read_journal(spark, str(tmp_path / "list.json")).collect() == lines.collect()
    assert lines.count() == COUNT


@pytest.mark.parametrize("content", ["not JSON", '{"items": 5}', '[{"id": 1}]'])
def test_a_file_that_is_no_journal_is_one_line(spark: SparkSession, tmp_path: Path, content: str) -> None:
    path = tmp_path / "journal.json"
    path.write_text(content)

    with pytest.raises(BadOption) as raised:
        read_journal(spark, str(path))

    assert str(raised.value).startswith(f"journal: {path} is not a response of GET /v1/journal: ")


@pytest.mark.parametrize("text", ["/nowhere/journal.json", "http://127.0.0.1:1", "http://127.0.0.1:x"])
def test_a_missing_journal_is_one_line(spark: SparkSession, text: str) -> None:
    with pytest.raises(BadOption) as raised:
        read_journal(spark, text)

    assert text in str(raised.value)
    assert "\n" not in str(raised.value)
