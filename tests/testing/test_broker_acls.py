"""ACLs in process and over HTTP, and what a client learns when one is created or deleted."""

from typing import cast

import pytest
from confluent_kafka import KafkaError, Producer

from fauxka.admin.methods.acls import Acls
from fauxka.broker.security.acl.standard_authorizer import CLASS_NAME
from fauxka.testing import AclValues, CallError, InvalidValueError
from fauxka.testing.remote_broker import RemoteBroker

from .transports import Broker

SECONDS_MAX = 20
TOPIC = "orders"
CONFIG = {"authorizer.class.name": CLASS_NAME, "super.users": "User:admin"}
USERS = {"alice": "alice-secret", "admin": "admin-secret"}
WRITE: AclValues = {"principal": "User:alice", "operation": "WRITE", "resource_type": "TOPIC", "name": TOPIC}


def changed_acl(**values: object) -> AclValues:
    return cast("AclValues", {**WRITE, **values})


def secured() -> Broker:
    return Broker(CONFIG, security_protocol="SASL_PLAINTEXT", users=USERS)


def outcome(producer: Producer) -> int:
    """Write a record and return its error code; 0 for none."""
    codes: list[int] = []
    producer.produce(TOPIC, b"v", on_delivery=lambda error, _: codes.append(error.code() if error else 0))
    assert producer.flush(SECONDS_MAX) == 0
    return codes[0]


def test_acl_takes_effect_for_the_next_request_of_a_connected_client() -> None:
    with secured() as broker:
        broker.topics.create(TOPIC)
        broker.acls.create(**WRITE)
        producer = Producer(broker.client_config("alice"))
        before = outcome(producer)

        (deleted,) = broker.acls.delete(operation="WRITE")
        revoked = outcome(producer)

    assert (before, revoked) == (0, KafkaError.TOPIC_AUTHORIZATION_FAILED)
    assert (deleted.principal, deleted.host, deleted.permission) == ("User:alice", "*", "ALLOW")


def check_lists(acls: Acls) -> None:
    created = acls.create(**WRITE)
    acls.create(**changed_acl(operation="READ", pattern_type="PREFIXED", permission="DENY"))
    acls.create(**WRITE)

    assert [acl.operation for acl in acls.list()] == ["WRITE", "READ"]
    assert [acl.operation for acl in acls.list(pattern_type="PREFIXED")] == ["READ"]
    assert acls.list(principal="User:bob") == []
    assert acls.delete(operation="WRITE") == [created]
    assert len(acls.delete()) == 1
    assert acls.list() == []


def test_acls_are_listed_by_their_values() -> None:
    with secured() as broker:
        check_lists(broker.acls)


def test_wrong_value_is_named_before_a_remote_call() -> None:
    acls = RemoteBroker("http://127.0.0.1:1").acls
    for call in (acls.list, acls.create, acls.delete):
        with pytest.raises(InvalidValueError, match="did you mean WRITE"):
            call(**changed_acl(operation="WRIET"))


def test_acls_need_an_authorizer() -> None:
    with Broker() as broker:
        assert broker.acls.list() == []
        with pytest.raises(CallError, match="the broker has no authorizer: ") as raised:
            broker.acls.create(**WRITE)

    assert raised.value.status == 409


@pytest.mark.parametrize(
    ("changed", "field", "value"),
    [
        ({"operation": "WRIET"}, "operation", "WRIET"),
        ({"resource_type": "ANY"}, "resource_type", "ANY"),
        ({"name": ""}, "name", ""),
        ({"unknown": 1}, "unknown", 1),
    ],
)
def test_wrong_value_is_named(changed: dict[str, object], field: str, value: object) -> None:
    with secured() as broker, pytest.raises(InvalidValueError) as raised:
        broker.acls.create(**changed_acl(**changed))

    assert (raised.value.field, raised.value.value) == (field, value)


@pytest.mark.parametrize(
    ("changed", "field", "message"),
    [
        ({"principal": "alice"}, "principal", "Could not parse principal from `alice`"),
        ({"resource_type": "CLUSTER"}, "name", "The only valid name for the CLUSTER resource is kafka-cluster"),
    ],
)
def test_value_that_kafka_refuses_has_its_message(changed: dict[str, object], field: str, message: str) -> None:
    with secured() as broker, pytest.raises(CallError) as raised:
        broker.acls.create(**changed_acl(**changed))

    assert (raised.value.status, raised.value.detail.field) == (400, field)
    assert message in raised.value.detail.message
