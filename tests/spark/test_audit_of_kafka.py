"""The audit of a log that Kafka wrote for real producers: it finds each fault and nothing else."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest
from confluent_kafka import Message, Producer
from pyspark.sql import SparkSession

from fauxka.pipeline.checks.audit_job import AuditRequest, audit
from fauxka.pipeline.cluster.spark_session import register

from ..reference.kafka_process import kafka_process
from ..reference.log_client import LogClient, log_client

pytestmark = [pytest.mark.spark, pytest.mark.reference, pytest.mark.timeout(600)]

SECONDS_MAX = 60
HOUR_MS = 3_600_000
TRANSACTION_MS = 900_000

# check, kind, cause, topic, event id, offset, other offset, count.
Finding = tuple[str, str, str | None, str | None, str | None, int | None, int | None, int]
COLUMNS = ("check", "kind", "cause", "topic", "event_id", "offset", "other_offset", "count")


@dataclass
class Application:
    """Sends events and records the delivery reports in a ledger."""

    bootstrap: str
    lines: list[dict[str, object]] = field(default_factory=list[dict[str, object]])

    def producer(self, **settings: str | int | bool) -> Producer:
        defaults: dict[str, str | int | bool] = {"bootstrap.servers": self.bootstrap, "linger.ms": 0}
        return Producer(defaults | {name.replace("_", "."): value for name, value in settings.items()})

    def send(self, producer: Producer, *events: str, topic: str = "orders") -> None:
        """Send events one after the other, each in a batch of its own."""
        for event in events:
            producer.produce(topic, b"one coffee", event, partition=0, on_delivery=self.delivered)
            assert producer.flush(SECONDS_MAX) == 0

    def delivered(self, error: object, message: Message) -> None:
        assert error is None
        key = message.key()
        assert isinstance(key, bytes)
        place = {"topic": message.topic(), "partition": message.partition(), "offset": message.offset()}
        self.lines.append({"event_id": key.decode(), "key": "k", "ordinal": len(self.lines), **place})

    def write(self, file: Path) -> str:
        file.write_text("".join(json.dumps(line) + "\n" for line in self.lines))
        return str(file)


@dataclass(frozen=True)
class Scene:
    """The log directory of a stopped Kafka, its ledger, and the findings of audits while it ran."""

    folder: str
    sent: str
    found_on_broker: list[Finding]
    found_an_hour_later: list[Finding]


@pytest.fixture(scope="module")
def scene(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    register(spark)
    folder = tmp_path_factory.mktemp("audited")
    with kafka_process(folder / "kafka.log", data=folder / "data") as kafka:
        with log_client(kafka.address) as client:
            for topic in ("orders", "old"):
                client.create_topic(topic)
                client.wait_until_led(topic)
            application = Application(kafka.address)
            still_open = send_all(application, client)
            client.delete_records("old", 3)
        sent = application.write(folder / "sent.jsonl")
        on_broker = {"bootstrap": kafka.address, "topics": "orders,old"}
        found = findings(spark, AuditRequest(on_broker, "key", sent))
        later = findings(spark, AuditRequest(on_broker, "key", sent, as_of_ms=round(time.time() * 1000) + HOUR_MS))
        # Closed only here, because closing it aborts its open transaction.
        del still_open
    yield Scene(str(folder / "data"), sent, found, later)


def send_all(application: Application, client: LogClient) -> Producer:
    """Send the events of the expected findings; return a producer with an open transaction."""
    idempotent = application.producer(enable_idempotence=True)
    application.send(idempotent, "a", "b", "c")  # offsets 0 to 2
    application.send(idempotent, "b")  # 3
    application.send(application.producer(enable_idempotence=True), "c")  # 4
    application.send(application.producer(enable_idempotence=False), "a")  # 5
    transactional = application.producer(transactional_id="audited")
    transactional.init_transactions(SECONDS_MAX)
    transactional.begin_transaction()
    application.send(transactional, "t1", "t2")  # 6, 7
    transactional.commit_transaction(SECONDS_MAX)  # 8
    transactional.begin_transaction()
    application.send(transactional, "t3", "t4")  # 9, 10
    transactional.abort_transaction(SECONDS_MAX)  # 11
    transactional.begin_transaction()
    application.send(transactional, "t3")  # 12; t4 is not sent again
    transactional.commit_transaction(SECONDS_MAX)  # 13
    client.wait_for_end("orders", 14)
    application.send(idempotent, "d", "unknown", "told-an-error")  # 14 to 16
    application.send(idempotent, *(f"old-{number}" for number in range(5)), topic="old")
    lines = {str(line["event_id"]): line for line in application.lines}
    application.lines.remove(lines["unknown"])
    lines["told-an-error"]["error"] = "REQUEST_TIMED_OUT"
    lost: dict[str, object] = {"event_id": "lost", "key": "k", "topic": "orders", "partition": 0, "offset": 1000}
    application.lines.append(lost)
    # Longer than an audit takes on a busy machine; the default of a minute is not.
    still_open = application.producer(transactional_id="still-open", transaction_timeout_ms=TRANSACTION_MS)
    still_open.init_transactions(SECONDS_MAX)
    still_open.begin_transaction()
    application.send(still_open, "o1")  # 17
    return still_open


def findings(spark: SparkSession, request: AuditRequest) -> list[Finding]:
    rows = audit(spark, request).select(*COLUMNS).collect()
    return sorted((cast(Finding, tuple(row)) for row in rows), key=str)


EXPECTED: list[Finding] = [
    ("event", "duplicate", "sent_again", "orders", "b", 3, 1, 1),
    ("event", "duplicate", "producer_restarted", "orders", "c", 4, 2, 1),
    ("event", "duplicate", "idempotence_off", "orders", "a", 5, 0, 1),
    ("log", "aborted_transaction", None, "orders", None, 9, 11, 2),
    ("log", "open_transaction", None, "orders", None, 17, None, 1),
    ("ledger", "lost", "aborted_transaction", "orders", "t4", 10, 10, 1),
    ("ledger", "lost", None, "orders", "lost", 1000, None, 1),
    ("ledger", "unknown_event", None, "orders", "unknown", 15, None, 1),
    ("ledger", "ambiguous_success", None, "orders", "told-an-error", 16, None, 1),
]
EXPIRED: list[Finding] = [
    ("ledger", "expired", "retention", "old", f"old-{number}", number, None, 1) for number in range(3)
]


def test_the_audit_of_a_running_kafka_finds_each_fault_and_nothing_else(scene: Scene) -> None:
    assert scene.found_on_broker == sorted(EXPECTED + EXPIRED, key=str)


def test_its_open_transaction_hangs_an_hour_later(scene: Scene) -> None:
    hanging = ("log", "hanging_transaction", None, "orders", None, 17, None, 1)

    expected = [hanging if finding[1] == "open_transaction" else finding for finding in EXPECTED + EXPIRED]
    assert scene.found_an_hour_later == sorted(expected, key=str)


def test_its_folder_has_the_same_findings_and_the_deleted_records(spark: SparkSession, scene: Scene) -> None:
    found = findings(spark, AuditRequest({"path": scene.folder, "topics": "orders,old"}, "key", scene.sent))

    assert found == sorted(EXPECTED, key=str)
