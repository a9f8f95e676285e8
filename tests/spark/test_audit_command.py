"""`fauxka audit` as its users meet it: a broker that loses an acknowledgement, and what is then found in its log."""

import json
from pathlib import Path

import pytest
from confluent_kafka import Producer

from fauxka.testing import Broker

from ..serving_process import Ended, run

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

AUDIT_SECONDS_MAX = 400
DELIVERED_SECONDS_MAX = 60
# A job of seconds is over before the better compiler pays.
QUICK = ("--master", "local[2]", "-c", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1")
EVENTS = 6


def send_with_a_lost_ack(broker: Broker, *, is_idempotent: bool) -> None:
    """Send an event, and then the others in one batch, whose first answer does not arrive."""
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "enable.idempotence": is_idempotent,
            "acks": "all",
            "linger.ms": 500,
            "retry.backoff.ms": 10,
        }
    )
    # The producer finds its topic before the others wait for each other.
    producer.produce("orders", key="order-0", value=b"one coffee", partition=0)
    assert producer.flush(DELIVERED_SECONDS_MAX) == 0
    lost = broker.faults.lost_ack(topic="orders")
    for number in range(1, EVENTS):
        producer.produce("orders", key=f"order-{number}", value=b"one coffee", partition=0)
    assert producer.flush(DELIVERED_SECONDS_MAX) == 0
    assert lost.hits == 1


def audit(*arguments: str) -> Ended:
    return run("audit", *QUICK, *arguments, seconds_max=AUDIT_SECONDS_MAX)


def test_a_lost_ack_without_idempotence_is_told_with_cause_and_offsets(tmp_path: Path) -> None:
    verdict_file, found, page = tmp_path / "verdict.json", tmp_path / "found", tmp_path / "page.html"
    with Broker() as broker:
        send_with_a_lost_ack(broker, is_idempotent=False)

        ended = audit(
            *("--bootstrap", broker.bootstrap_servers, "--topics", "orders", "--event-id", "key"),
            *("--json", str(verdict_file), "--parquet", str(found), "--html", str(page)),
        )

    assert ended.exit_code == 1, ended.log
    lines = ended.output.splitlines()
    assert lines[1] == "  orders: 11 records in 3 batches of 1 partition, from 0 producers with an id"
    assert lines[-1].startswith("Verdict: 5 findings: 5 ")
    verdict = json.loads(verdict_file.read_text())
    (group,) = verdict["groups"]
    assert (verdict["verdict"], group["check"], group["cause"]) == ("findings", "event", "idempotence_off")
    assert [(one["event_id"], one["offset"], one["other_offset"]) for one in group["examples"]] == [
        (f"order-{number}", number + EVENTS - 1, number) for number in range(1, EVENTS)
    ]
    assert any("orders-0 offset 6 event order-1: " in line for line in lines)
    assert "Traceback" not in ended.log
    assert "idempotence_off" in page.read_text()
    assert list(found.glob("*.parquet")) != []


def test_a_lost_ack_with_idempotence_leaves_a_clean_log() -> None:
    with Broker() as broker:
        send_with_a_lost_ack(broker, is_idempotent=True)

        ended = audit("--bootstrap", broker.bootstrap_servers, "--event-id", "key")

    assert ended.exit_code == 0, ended.log + ended.output
    assert ended.output.splitlines() == [
        f"Audit of {broker.bootstrap_servers}: sequences, events by key",
        "  orders: 6 records in 2 batches of 1 partition, from 1 producer with an id",
        "",
        "Verdict: clean",
    ]
