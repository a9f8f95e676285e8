"""An order whose acknowledgement is lost: how confluent-kafka retries, with and without idempotence."""

from confluent_kafka import Producer

from fauxka.testing import Broker, Faults

DELIVERED_SECONDS_MAX = 30


def send_order(bootstrap: str, *, is_idempotent: bool) -> None:
    """Send one order; in your project this is the code under test."""
    producer = Producer(
        {"bootstrap.servers": bootstrap, "enable.idempotence": is_idempotent, "retry.backoff.ms": 10, "acks": "all"}
    )
    producer.produce("orders", key="order-1", value="one coffee")
    assert producer.flush(DELIVERED_SECONDS_MAX) == 0


def test_an_idempotent_producer_stores_the_order_once(fauxka: Broker, faults: Faults) -> None:
    with faults.lost_ack(topic="orders") as lost:
        send_order(fauxka.bootstrap_servers, is_idempotent=True)

    verdict = fauxka.verdict("orders", event_id="key")
    assert lost.hits == 1
    assert (verdict.batches.appended_once, verdict.batches.duplicates_recognised) == (1, 1)
    assert verdict.records.duplicates == 0


def test_without_idempotence_the_order_is_stored_twice(fauxka: Broker, faults: Faults) -> None:
    with faults.lost_ack(topic="orders"):
        send_order(fauxka.bootstrap_servers, is_idempotent=False)

    verdict = fauxka.verdict("orders", event_id="key")
    assert verdict.batches.appended_twice == 1
    assert [finding.offsets for finding in verdict.findings] == [[0, 1]]
