"""ACLs beyond the answers that are compared with Kafka: keys, the data folder, resets and clients that lose them."""

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.config.config_types import ConfigError
from fauxka.broker.metadata.metadata_fields import METADATA_FILE
from fauxka.broker.network.listeners import ListenerConfig
from fauxka.broker.security.acl.standard_authorizer import CLASS_NAME, FORMER_CLASS_NAMES, authorizer_of
from fauxka.protocol import acl_types
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from fauxka.testing import Broker

from ...serving_process import serving
from ..blocking_client import BlockingClient

# Its types are not complete.
confluent_admin = importlib.import_module("confluent_kafka.admin")
AclOperation = confluent_admin.AclOperation
AclPermissionType = confluent_admin.AclPermissionType
PatternType = confluent_admin.ResourcePatternType
ResourceType = confluent_admin.ResourceType

SECONDS_MAX = 20
TOPIC = "orders"
ANONYMOUS = "User:ANONYMOUS"
WITH_ACLS = {"authorizer.class.name": CLASS_NAME}
# A client without SASL is ANONYMOUS, and has to set up ACLs here.
SUPER_ANONYMOUS = {**WITH_ACLS, "super.users": ANONYMOUS}


def acl_of(operation: Any, permission: Any = AclPermissionType.ALLOW) -> Any:
    return confluent_admin.AclBinding(
        ResourceType.TOPIC, TOPIC, PatternType.LITERAL, ANONYMOUS, "*", operation, permission
    )


EVERY_ACL = confluent_admin.AclBindingFilter(
    ResourceType.ANY, None, PatternType.ANY, None, None, AclOperation.ANY, AclPermissionType.ANY
)


def error_of_a_write(bootstrap: str) -> object:
    errors: list[object] = []
    producer = Producer({"bootstrap.servers": bootstrap})
    producer.produce(TOPIC, b"v", on_delivery=lambda error, _: errors.append(error and error.code()))
    assert producer.flush(SECONDS_MAX) == 0
    return errors[0]


def create(bootstrap: str, *acls: Any) -> None:
    admin = confluent_admin.AdminClient({"bootstrap.servers": bootstrap})
    for future in admin.create_acls(list(acls)).values():
        future.result(SECONDS_MAX)


def described(bootstrap: str) -> set[Any]:
    admin = confluent_admin.AdminClient({"bootstrap.servers": bootstrap})
    return set(admin.describe_acls(EVERY_ACL).result(SECONDS_MAX))


def names_at(address: str) -> list[str]:
    """Return the names of the resources with ACLs from DescribeAcls to this node."""
    request = DescribeAclsRequest(
        resource_type_filter=acl_types.ResourceType.ANY,
        resource_name_filter=None,
        pattern_type_filter=acl_types.PatternType.ANY,
        principal_filter=None,
        host_filter=None,
        operation=acl_types.AclOperation.ANY,
        permission_type=acl_types.AclPermission.ANY,
    )
    with BlockingClient(address) as client:
        response = client.send(ApiKey.DESCRIBE_ACLS, 3, request, DescribeAclsResponse.read)
    return [resource.resource_name for resource in response.resources]


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker(SUPER_ANONYMOUS) as running:
        yield running


def test_admin_client_creates_describes_and_deletes_acls(broker: Broker) -> None:
    bootstrap = broker.bootstrap_servers
    read, write = acl_of(AclOperation.READ), acl_of(AclOperation.WRITE, AclPermissionType.DENY)
    create(bootstrap, read, write)
    create(bootstrap, read)
    assert described(bootstrap) == {read, write}

    only_write = confluent_admin.AclBindingFilter(
        ResourceType.TOPIC, None, PatternType.ANY, None, None, AclOperation.WRITE, AclPermissionType.ANY
    )
    admin = confluent_admin.AdminClient({"bootstrap.servers": bootstrap})
    (deleted,) = admin.delete_acls([only_write]).values()

    assert set(deleted.result(SECONDS_MAX)) == {write}
    assert described(bootstrap) == {read}


def test_acls_need_an_authorizer() -> None:
    with Broker() as broker:
        admin = confluent_admin.AdminClient({"bootstrap.servers": broker.bootstrap_servers})
        (created,) = admin.create_acls([acl_of(AclOperation.READ)]).values()
        with pytest.raises(KafkaException) as raised:
            created.result(SECONDS_MAX)

    assert raised.value.args[0].code() == KafkaError.SECURITY_DISABLED


def test_client_without_acl_is_denied_and_super_user_is_not() -> None:
    with Broker(WITH_ACLS) as broker:
        broker.topics.create(TOPIC)
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
        errors: list[int] = []
        producer.produce(TOPIC, b"v", on_delivery=lambda error, _: errors.append(error.code() if error else 0))
        assert producer.flush(SECONDS_MAX) == 0
    with Broker(SUPER_ANONYMOUS) as broker:
        broker.topics.create(TOPIC)
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
        producer.produce(TOPIC, b"v", on_delivery=lambda error, _: errors.append(error.code() if error else 0))
        assert producer.flush(SECONDS_MAX) == 0

    assert errors == [KafkaError.TOPIC_AUTHORIZATION_FAILED, 0]


def test_consumer_whose_acl_is_deleted_is_told_within_its_fetch_session() -> None:
    with Broker({**WITH_ACLS, "allow.everyone.if.no.acl.found": "true"}) as broker:
        broker.topics.create(TOPIC)
        bootstrap = broker.bootstrap_servers
        consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "g", "auto.offset.reset": "earliest"})
        consumer.assign([TopicPartition(TOPIC, 0, 0)])
        producer = Producer({"bootstrap.servers": bootstrap})
        producer.produce(TOPIC, b"v")
        producer.flush(SECONDS_MAX)
        first = consumer.poll(SECONDS_MAX)
        assert first is not None and first.value() == b"v"
        # It fetches on, in a session, and finds nothing.
        assert consumer.poll(0.5) is None

        create(bootstrap, acl_of(AclOperation.READ, AclPermissionType.DENY))

        message = consumer.poll(SECONDS_MAX)
        consumer.close()
    assert message is not None
    error = message.error()
    assert error is not None and error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED


def test_reset_deletes_acls(broker: Broker) -> None:
    create(broker.bootstrap_servers, acl_of(AclOperation.READ))

    broker.reset("data")

    assert described(broker.bootstrap_servers) == set()


def test_restored_snapshot_has_its_acls(broker: Broker) -> None:
    read, write = acl_of(AclOperation.READ), acl_of(AclOperation.WRITE)
    create(broker.bootstrap_servers, read)
    snapshot = broker.snapshot()
    create(broker.bootstrap_servers, write)

    broker.restore(snapshot)

    assert described(broker.bootstrap_servers) == {read}


def test_acls_are_kept_in_the_data_folder(tmp_path: Path) -> None:
    options = ["--data-dir", str(tmp_path / "data"), "--port", "0"]
    keys = [text for key, value in SUPER_ANONYMOUS.items() for text in ("-c", f"{key}={value}")]
    read = acl_of(AclOperation.READ)
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    with serving(tmp_path / "first", *options, *keys) as running:
        create(running.bootstrap, read)
        running.process.kill()
    with serving(tmp_path / "second", *options, *keys) as running:
        assert described(running.bootstrap) == {read}

    content = json.loads((tmp_path / "data" / METADATA_FILE).read_bytes())
    assert content["version"] == 5
    assert content["security"]["acls"] == [
        {
            "resource_type": "TOPIC",
            "name": TOPIC,
            "pattern_type": "LITERAL",
            "principal": ANONYMOUS,
            "host": "*",
            "operation": "READ",
            "permission": "ALLOW",
        }
    ]


def test_nodes_judge_by_the_same_acls() -> None:
    with Broker(SUPER_ANONYMOUS, nodes=3) as broker:
        create(broker.bootstrap_servers, acl_of(AclOperation.READ))

        assert [names_at(address) for address in broker.bootstrap_servers.split(",")] == [[TOPIC]] * 3


def test_node_without_the_controller_judges_by_the_acls_that_it_knows() -> None:
    with Broker(SUPER_ANONYMOUS, nodes=3) as broker:
        first, second, _ = broker.bootstrap_servers.split(",")
        broker.isolate(2, ["controller"])

        create(first, acl_of(AclOperation.READ))

        assert (names_at(first), names_at(second)) == ([TOPIC], [])
        broker.rejoin(2)
        assert names_at(second) == [TOPIC]


@pytest.mark.parametrize("name", FORMER_CLASS_NAMES)
def test_former_authorizers_are_the_standard_one(name: str) -> None:
    assert authorizer_of(BrokerConfig.from_entries({"authorizer.class.name": name})) is not None


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (
            {"authorizer.class.name": "com.example.Authorizer"},
            f"authorizer.class.name: got com.example.Authorizer; allowed: {CLASS_NAME}",
        ),
        (
            {**WITH_ACLS, "super.users": "User:admin;bob"},
            "super.users: got bob; expected principals such as User:admin, separated by ;",
        ),
    ],
)
def test_wrong_key_is_one_line(tmp_path: Path, entries: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        authorizer_of(BrokerConfig.from_entries(entries))

    assert str(raised.value) == message


def test_acl_for_an_ipv6_address_as_java_prints_it_counts_for_the_client() -> None:
    keys = {**WITH_ACLS, "allow.everyone.if.no.acl.found": "true"}
    with Broker(keys, listeners=[ListenerConfig(host="::1", port=0)]) as broker:
        allowed = acl_of(AclOperation.ALL)
        denied = confluent_admin.AclBinding(
            ResourceType.TOPIC,
            TOPIC,
            PatternType.LITERAL,
            ANONYMOUS,
            "0:0:0:0:0:0:0:1",
            AclOperation.WRITE,
            AclPermissionType.DENY,
        )
        create(broker.bootstrap_servers, allowed, denied)

        error = error_of_a_write(broker.bootstrap_servers)

    assert error == KafkaError.TOPIC_AUTHORIZATION_FAILED
