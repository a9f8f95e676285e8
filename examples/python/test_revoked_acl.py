"""A user who loses the ACL of a topic: the next order fails, and the one before is stored."""

from collections.abc import Iterator

import pytest
from confluent_kafka import KafkaError, Producer

from fauxka.testing import Broker

DELIVERED_SECONDS_MAX = 30
AUTHORIZER = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}


class Orders:
    """A producer of orders; in your project this is the code under test."""

    def __init__(self, config: dict[str, str]) -> None:
        self._producer = Producer({**config, "enable.idempotence": True})
        self.errors: list[KafkaError] = []

    def send(self, order: str) -> None:
        """Send one order, and keep the error if it is not stored."""
        self._producer.produce(
            "orders", order, on_delivery=lambda error, _: self.errors.append(error) if error is not None else None
        )
        self._producer.flush(DELIVERED_SECONDS_MAX)


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker(AUTHORIZER, security_protocol="SASL_SSL", users={"alice": "secret"}) as broker:
        broker.topics.create("orders", partitions=1)
        yield broker


def test_order_after_the_acl_is_revoked_is_not_stored(broker: Broker) -> None:
    broker.acls.create(principal="User:alice", operation="WRITE", resource_type="TOPIC", name="orders")
    orders = Orders(broker.client_config("alice", mechanism="SCRAM-SHA-512"))

    orders.send("one coffee")
    assert orders.errors == []

    broker.acls.delete(principal="User:alice")
    orders.send("one tea")

    assert [error.code() for error in orders.errors] == [KafkaError.TOPIC_AUTHORIZATION_FAILED]
    assert [record.value for record in broker.records("orders")] == [b"one coffee"]


def test_wrong_password_stores_nothing(broker: Broker) -> None:
    errors: list[KafkaError] = []
    config = {**broker.client_config("alice", mechanism="SCRAM-SHA-512"), "sasl.password": "wrong"}
    producer = Producer({**config, "error_cb": errors.append, "message.timeout.ms": 2000})

    producer.produce("orders", "one coffee")
    producer.flush(DELIVERED_SECONDS_MAX)

    assert KafkaError._AUTHENTICATION in [error.code() for error in errors]
    assert broker.records("orders") == []
