"""File fault rules over HTTP."""

from collections.abc import Iterator

import pytest

from ..broker.topic_client import TopicClient
from ..serving_process import Serving
from .admin_client import AdminClient

KAFKA_STORAGE_ERROR = 56
DISK_FULL = {"action": "disk_full", "path": {"regex": r"events-0/.*\.log"}}


@pytest.fixture(autouse=True)
def without_rules(admin: AdminClient) -> Iterator[None]:
    yield
    admin.delete("/v1/files")


def test_disk_is_full_until_the_rule_is_removed(admin: AdminClient, broker: Serving) -> None:
    rule = admin.post("/v1/files", DISK_FULL)

    with TopicClient(broker.bootstrap) as client:
        refused = client.produce(0).error_code
        removed = admin.delete(f"/v1/files/{rule['id']}")
        appended = client.produce(0).error_code

    assert (refused, appended) == (KAFKA_STORAGE_ERROR, 0)
    assert (removed["hits"], removed["remaining"]) == (1, None)
    assert admin.get("/v1/files")["items"] == []


def test_rule_is_returned_as_given(admin: AdminClient) -> None:
    answer = admin.call("POST", "/v1/files", {"operation": "fsync", "action": "slow", "ms": 5, "when": {"times": 3}})

    rule = answer.json
    assert (answer.status, rule["operation"], rule["action"], rule["ms"]) == (201, "fsync", "slow", 5)
    assert (rule["when"]["times"], rule["remaining"]) == (3, 3)
    assert admin.get(f"/v1/files/{rule['id']}") == rule


def test_rule_is_replaced_and_listed_in_pages(admin: AdminClient) -> None:
    ids = [admin.post("/v1/files", DISK_FULL)["id"] for _ in range(2)]
    admin.put(f"/v1/files/{ids[0]}", {"action": "read_only"})

    first = admin.get("/v1/files", limit=1)
    second = admin.get("/v1/files", since=first["next"])

    assert [rule["action"] for rule in first["items"] + second["items"]] == ["read_only", "disk_full"]


def test_hits_are_awaited(admin: AdminClient, broker: Serving) -> None:
    rule = admin.post("/v1/files", DISK_FULL)
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)

    assert admin.get(f"/v1/files/{rule['id']}/await") == {"id": rule["id"], "hits": 1}


def test_invalid_rule_is_400_with_the_reason(admin: AdminClient) -> None:
    answer = admin.call("POST", "/v1/files", {"operation": "fsync", "action": "disk_full"})

    assert (answer.status, answer.error["field"], answer.error["value"]) == (400, "operation", "fsync")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_unknown_rule_is_404(admin: AdminClient, method: str) -> None:
    assert admin.call(method, "/v1/files/98765", DISK_FULL if method == "PUT" else None).status == 404
