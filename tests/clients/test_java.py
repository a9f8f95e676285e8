"""The Java client, Kafka's own."""

from collections.abc import Iterator

import pytest

from .client import Client
from .client_contract import ClientContract
from .java_client import JavaClient
from .records import PARTITION_COUNT, thousand_records

pytestmark = pytest.mark.java


@pytest.fixture(scope="module")
def java(bootstrap: str) -> Iterator[JavaClient]:
    driver = JavaClient(bootstrap)
    yield driver
    driver.close()


@pytest.fixture
def client(java: JavaClient) -> Client:
    return java


class TestJava(ClientContract):
    def test_the_broker_remembers_the_producer_of_each_partition(self, java: JavaClient, topic: str) -> None:
        sent = thousand_records()

        java.produce(topic, sent)

        states = [java.producer_states(topic, partition) for partition in range(PARTITION_COUNT)]
        assert [(state["producer_epoch"], state["last_sequence"]) for [state] in states] == [
            (0, 333),
            (0, 332),
            (0, 332),
        ]
        assert len({state["producer_id"] for [state] in states}) == 1
