"""An audit of some topics: the lines of a ledger and of a journal about other topics do not count."""

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from confluent_kafka import Producer
from pyspark.sql import Row, SparkSession

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.checks.audit_job import AuditRequest, audit
from fauxka.pipeline.cluster.spark_session import register
from fauxka.testing import Broker

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

TOPICS = ("orders", "payments")
EVENTS = 4


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 100})
        for topic in TOPICS:
            broker.topics.create(topic, partitions=1)
            for number in range(EVENTS):
                producer.produce(topic, key=f"{topic}-{number}", value=b"one coffee", partition=0)
        assert producer.flush(30) == 0
        yield broker


def ledger_file(folder: Path, *lines: dict[str, object]) -> str:
    file = folder / "sent.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(file)


def acked(topic: str, number: int) -> dict[str, object]:
    return {**without_topic(topic, number), "topic": topic}


def without_topic(topic: str, number: int) -> dict[str, object]:
    return {"event_id": f"{topic}-{number}", "partition": 0, "offset": number}


def findings(spark: SparkSession, request: AuditRequest) -> list[Row]:
    register(spark)
    return audit(spark, request).select("kind", "topic", "event_id").orderBy("event_id").collect()


def test_lines_of_other_topics_in_a_ledger_do_not_count(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    lines = [acked(topic, number) for topic in (*TOPICS, "elsewhere") for number in range(EVENTS)]
    sent = ledger_file(tmp_path, *lines)
    log = {"bootstrap": broker.bootstrap_servers}

    assert findings(spark, AuditRequest({**log, "topics": "orders"}, "key", sent)) == []
    # Without --topics every topic is audited, also one that the broker does not have.
    found = findings(spark, AuditRequest(log, "key", sent))
    assert found == [Row(kind="lost", topic="elsewhere", event_id=f"elsewhere-{number}") for number in range(EVENTS)]


def test_a_line_without_a_topic_is_of_the_only_audited_topic(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    lines = [without_topic("orders", number) for number in range(EVENTS + 1)]
    # One line has a topic, so that the ledger as a whole has them.
    sent = ledger_file(tmp_path, *lines, acked("payments", 0))

    found = findings(spark, AuditRequest({"bootstrap": broker.bootstrap_servers, "topics": "orders"}, "key", sent))

    assert found == [Row(kind="lost", topic="orders", event_id=f"orders-{EVENTS}")]


def test_lines_without_a_topic_are_refused_where_several_are_audited(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    sent = ledger_file(tmp_path, without_topic("orders", 0), acked("orders", 1))

    with pytest.raises(BadOption) as raised:
        findings(spark, AuditRequest({"bootstrap": broker.bootstrap_servers}, "key", sent))

    assert str(raised.value) == (
        f"sent: lines of {sent} have no topic, and 2 topics are audited; "
        "set topic in each line, or name one topic with --topics"
    )


def test_batches_of_other_topics_in_a_journal_do_not_count(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    journal.write_bytes(msgspec.json.Encoder().encode_lines(broker.journal.entries()))

    request = AuditRequest({"bootstrap": broker.bootstrap_servers, "topics": "payments"}, journal=str(journal))

    assert findings(spark, request) == []


def test_a_lost_event_without_an_offset_has_the_topic_of_the_ledger(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    sent = ledger_file(tmp_path, *(acked(topic, n) for topic in TOPICS for n in range(EVENTS)))
    with open(sent, "a") as file:
        file.write(json.dumps({"event_id": "never-stored", "topic": "payments"}) + "\n")

    found = findings(spark, AuditRequest({"bootstrap": broker.bootstrap_servers}, "key", sent))

    assert found == [Row(kind="lost", topic="payments", event_id="never-stored")]
