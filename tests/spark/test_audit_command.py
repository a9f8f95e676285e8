"""`fauxka audit` as a process: a broker loses an acknowledgement, and the audit finds the copies in its log."""

import json
from collections.abc import Iterable
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from confluent_kafka import Producer

from fauxka.testing import Broker

from ..pipeline.logs_on_disk import batches, write_segment
from ..serving_process import Ended, run, serving

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

AUDIT_SECONDS_MAX = 400
DELIVERED_SECONDS_MAX = 60
# The job is too short for the optimising compiler.
QUICK = ("--master", "local[2]", "-c", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1")
EVENTS = 6


def send_with_a_lost_ack(broker: Broker, *, is_idempotent: bool) -> None:
    """Send an event, then the others in one batch, whose first response is lost."""
    producer = producer_at(broker.bootstrap_servers, is_idempotent=is_idempotent)
    # The producer fetches its metadata now, so that the next events form one batch.
    send(producer, range(1))
    lost = broker.faults.lost_ack(topic="orders")
    send(producer, range(1, EVENTS))
    assert lost.hits == 1


def producer_at(bootstrap: str, *, is_idempotent: bool) -> Producer:
    return Producer(
        {
            "bootstrap.servers": bootstrap,
            "enable.idempotence": is_idempotent,
            "acks": "all",
            "linger.ms": 500,
            "retry.backoff.ms": 10,
        }
    )


def send(producer: Producer, numbers: Iterable[int]) -> None:
    # Without metadata the flush would send the events in more than one batch.
    producer.list_topics("orders", timeout=DELIVERED_SECONDS_MAX)
    for number in numbers:
        producer.produce("orders", key=f"order-{number}", value=b"one coffee", partition=0)
    assert producer.flush(DELIVERED_SECONDS_MAX) == 0


def audit(*arguments: str) -> Ended:
    return run("audit", *QUICK, *arguments, seconds_max=AUDIT_SECONDS_MAX)


@pytest.mark.slice
def test_a_lost_ack_without_idempotence_is_found_with_cause_and_offsets(tmp_path: Path) -> None:
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

        bootstrap = broker.bootstrap_servers
        ended = audit("--bootstrap", bootstrap, "--event-id", "key")

    assert ended.exit_code == 0, ended.log + ended.output
    assert ended.output.splitlines() == [
        f"Audit of {bootstrap}: sequences, events by key",
        "  orders: 6 records in 2 batches of 1 partition, from 1 producer with an id",
        "    6 event ids in 6 committed records",
        "",
        "Verdict: clean",
    ]


def test_an_empty_topic_is_clean() -> None:
    with Broker() as broker:
        broker.topics.create("empty", partitions=2)

        bootstrap = broker.bootstrap_servers
        ended = audit("--bootstrap", bootstrap, "--topics", "empty", "--event-id", "key")

    assert ended.exit_code == 0, ended.log + ended.output
    assert ended.output.splitlines()[-1] == "Verdict: clean, but there are no records"


def test_empty_ids_are_no_copies_unless_the_option_says_so() -> None:
    with Broker() as broker:
        broker.topics.create("orders", partitions=1)
        producer = producer_at(broker.bootstrap_servers, is_idempotent=True)
        for key in ("a", "", ""):
            producer.produce("orders", key=key, value=b"one coffee", partition=0)
        assert producer.flush(DELIVERED_SECONDS_MAX) == 0
        log = ("--bootstrap", broker.bootstrap_servers, "--event-id", "key")

        without = audit(*log)
        compared = audit(*log, "--empty-id-is-an-id")

    assert "    1 event id in 1 committed record, 2 without one (2 empty)" in without.output.splitlines()
    assert without.output.splitlines()[-1] == "Verdict: 1 finding: 1 no event id"
    assert "    2 event ids in 3 committed records" in compared.output.splitlines()
    assert compared.output.splitlines()[-1] == "Verdict: 1 finding: 1 duplicate (sent again)"


def test_the_journal_shows_stored_but_unacknowledged_records(tmp_path: Path) -> None:
    rule = {"match": {"api": "Produce", "topic": "orders"}, "point": "applied", "action": {"kind": "close"}}
    with serving(tmp_path, "--admin-port", "0") as broker:
        producer = producer_at(broker.bootstrap, is_idempotent=False)
        send(producer, range(1))
        request = Request(f"{broker.admin}/v1/rules", json.dumps({**rule, "when": {"times": 1}}).encode())
        request.add_header("Content-Type", "application/json")
        with urlopen(request, timeout=10) as answer:
            assert answer.status == 201
        send(producer, range(1, EVENTS))

        ended = audit("--bootstrap", broker.bootstrap, "--journal", str(broker.admin), "--json", "-")

    assert ended.exit_code == 1, ended.log
    (group,) = json.loads(ended.output)["groups"]
    assert (group["check"], group["kind"], group["records"]) == ("ledger", "ambiguous_success", EVENTS - 1)
    assert [one["offset"] for one in group["examples"]] == list(range(1, EVENTS))


def test_the_users_garbage_collector_is_used(tmp_path: Path) -> None:
    write_segment(tmp_path / "orders-0", batches(0, 5))

    ended = audit("--path", str(tmp_path), "-c", "spark.driver.extraJavaOptions=-XX:+UseSerialGC")

    assert ended.exit_code == 0, ended.log + ended.output
