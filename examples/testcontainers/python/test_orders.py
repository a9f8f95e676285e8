"""An order whose acknowledgement is lost, with a broker in a container: it is stored once."""

import os
from collections.abc import Iterator

import pytest
from confluent_kafka import Producer

from fauxka.testcontainers import IMAGE, FauxkaContainer


@pytest.fixture(scope="module")
def fauxka() -> Iterator[FauxkaContainer]:
    with FauxkaContainer(os.environ.get("FAUXKA_IMAGE", IMAGE)) as container:
        yield container


@pytest.fixture(autouse=True)
def clean_broker(fauxka: FauxkaContainer) -> None:
    fauxka.broker.reset()


def test_order_is_stored_once_although_its_acknowledgement_is_lost(fauxka: FauxkaContainer) -> None:
    lost = fauxka.broker.faults.lost_ack(topic="orders")
    producer = Producer({"bootstrap.servers": fauxka.get_bootstrap_server(), "enable.idempotence": True})

    producer.produce("orders", key=b"order-1", value=b"one coffee")
    assert producer.flush(30) == 0

    assert lost.hits == 1
    verdict = fauxka.broker.verdict("orders")
    verdict.assert_exactly_once()
    assert verdict.batches.duplicates_recognised == 1
