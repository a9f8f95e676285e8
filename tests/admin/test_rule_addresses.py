"""Rules over HTTP by id and by name, and rules that are disabled."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from ..broker.topic_client import TOPIC, TopicClient
from ..serving_process import Serving
from .admin_client import AdminClient

FOLDER = f"{TOPIC}-0"


@pytest.fixture(autouse=True)
def without_file_rules(admin: AdminClient) -> Iterator[None]:
    admin.delete("/v1/files")
    yield
    admin.delete("/v1/files")


def counting(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "match": {"api": "Produce"},
        "when": {"times": None},
        "point": "received",
        "action": {"kind": "observe"},
    }


def test_rule_is_named_by_its_name_in_every_call(admin: AdminClient, broker: Serving) -> None:
    rule = admin.post("/v1/rules", counting("two acks"))
    path = f"/v1/rules/{quote('two acks')}"
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)

    assert admin.get(path)["id"] == rule["id"]
    assert admin.get(f"{path}/await", hits=1) == {"id": rule["id"], "hits": 1}
    assert admin.put(path, counting("two acks"))["hits"] == 0
    assert admin.delete(path)["id"] == rule["id"]


def test_name_of_two_rules_is_409_with_the_ids(admin: AdminClient) -> None:
    first, second = (admin.post("/v1/rules", counting("lost"))["id"] for _ in range(2))

    answer = admin.call("DELETE", "/v1/rules/lost")

    assert (answer.status, answer.error["field"], answer.error["value"]) == (409, "id", "lost")
    assert answer.error["message"] == f"2 rules have the name 'lost': use one of the ids {first}, {second}"


@pytest.mark.parametrize("path", ["/v1/rules/lost", "/v1/files/lost", "/v1/rules/99999999999999999999999"])
def test_unknown_name_is_404(admin: AdminClient, path: str) -> None:
    answer = admin.call("GET", path)

    assert (answer.status, answer.error["field"]) == (404, "id")


def test_disabled_rule_counts_nothing_until_it_is_enabled(admin: AdminClient, broker: Serving) -> None:
    admin.post("/v1/rules", {**counting("counted"), "enabled": False})
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)
        disabled = admin.get("/v1/rules/counted")

        enabled = admin.call("PATCH", "/v1/rules/counted", {"enabled": True})
        client.produce(1)

    assert (disabled["enabled"], disabled["matched"]) == (False, 0)
    assert (enabled.status, enabled.json["enabled"]) == (200, True)
    assert admin.get("/v1/rules/counted")["hits"] == 1


@pytest.mark.parametrize(("body", "field"), [({}, "enabled"), ({"enabled": 0}, "enabled"), ({"name": "x"}, "name")])
def test_invalid_change_is_400(admin: AdminClient, body: dict[str, object], field: str) -> None:
    admin.post("/v1/rules", counting("counted"))

    answer = admin.call("PATCH", "/v1/rules/counted", body)

    assert (answer.status, answer.error["field"]) == (400, field)


def test_full_disk_is_disabled_and_enabled_by_name(admin: AdminClient, broker: Serving) -> None:
    admin.post("/v1/files", {"name": "full", "action": "disk_full", "folder": FOLDER})
    admin.call("PATCH", "/v1/files/full", {"enabled": False})

    with TopicClient(broker.bootstrap) as client:
        while_disabled = client.produce(0).error_code
        admin.call("PATCH", "/v1/files/full", {"enabled": True})
        while_enabled = client.produce(1).error_code

    assert (while_disabled, while_enabled) == (0, 56)
    assert admin.get("/v1/files/full")["hits"] == 1
