"""Topics over HTTP: created, returned and deleted; groups by id."""

from collections.abc import Iterator
from urllib.parse import quote

import pytest

from fauxka.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest

from ..serving_process import Serving
from ..wire.message_client import MessageClient
from .admin_client import AdminClient


@pytest.fixture(autouse=True)
def without_orders(admin: AdminClient) -> Iterator[None]:
    yield
    admin.call("DELETE", "/v1/topics/orders")


def test_topic_is_created_and_returned(admin: AdminClient) -> None:
    body = {"name": "orders", "partitions": 2, "configs": {"retention.ms": "1000", "preallocate": True}}

    answer = admin.call("POST", "/v1/topics", body)

    assert answer.status == 201
    assert (answer.json["name"], len(answer.json["partitions"])) == ("orders", 2)
    assert answer.json["configs"] == {"retention.ms": "1000", "preallocate": "true"}
    assert admin.get("/v1/topics/orders") == answer.json


def test_existing_topic_is_409(admin: AdminClient) -> None:
    admin.post("/v1/topics", {"name": "orders"})

    answer = admin.call("POST", "/v1/topics", {"name": "orders"})

    assert (answer.status, answer.error["field"], answer.error["value"]) == (409, "name", "orders")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "or/ders"}, "name"),
        ({"name": "orders", "partitions": 0}, "partitions"),
        ({"name": "orders", "partitions": 100_000}, "partitions"),
        ({"name": "orders", "configs": {"cleanup": "compact"}}, "configs.cleanup"),
        ({"name": "orders", "replication_factor": 3}, "replication_factor"),
    ],
)
def test_invalid_topic_is_400_with_its_field(admin: AdminClient, body: dict[str, object], field: str) -> None:
    answer = admin.call("POST", "/v1/topics", body)

    assert (answer.status, answer.error["field"]) == (400, field)


def test_unknown_config_is_answered_with_the_known_ones(admin: AdminClient) -> None:
    answer = admin.call("POST", "/v1/topics", {"name": "orders", "configs": {"cleanup": "compact"}})

    assert answer.error["message"] == "INVALID_CONFIG: Unknown topic config name: cleanup"
    assert "cleanup.policy" in answer.error["allowed"]


def test_deleted_topic_is_returned_and_gone(admin: AdminClient) -> None:
    admin.post("/v1/topics", {"name": "orders"})

    assert admin.delete("/v1/topics/orders")["name"] == "orders"
    assert admin.call("DELETE", "/v1/topics/orders").status == 404


@pytest.mark.parametrize("group_id", ["readers", "a/b", "100% ä?#", "%2F", "a%2Fb"])
def test_group_is_returned_by_its_id(admin: AdminClient, broker: Serving, group_id: str) -> None:
    admin.post("/v1/topics", {"name": "orders"})
    request = ConsumerGroupHeartbeatRequest(
        group_id=group_id,
        member_id="one",
        rebalance_timeout_ms=60_000,
        subscribed_topic_names=["orders"],
        topic_partitions=[],
    )
    with MessageClient(broker.bootstrap) as connection:
        connection.call(request, 1)

        group = admin.get(f"/v1/groups/{quote(group_id, safe='')}")

    assert (group["group_id"], group["type"], len(group["members"])) == (group_id, "consumer", 1)


def test_unknown_group_is_404(admin: AdminClient) -> None:
    answer = admin.call("GET", "/v1/groups/others")

    assert (answer.status, answer.error["field"], answer.error["value"]) == (404, "group_id", "others")
