"""Reports of what an application has processed, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from ..broker.topic_client import TOPIC, TopicClient
from ..serving_process import Serving
from .admin_client import AdminClient

GROUP = "billing"


@pytest.fixture(autouse=True)
def from_the_start(admin: AdminClient) -> None:
    admin.post("/v1/reset", {"scope": "all"})


def report(**places: Any) -> dict[str, Any]:
    return {"group": GROUP, "topic": TOPIC, **places}


def test_reported_offsets_are_in_the_verdict_on_the_group(admin: AdminClient, broker: Serving) -> None:
    with TopicClient(broker.bootstrap) as client:
        for number in range(3):
            client.produce(number)

    assert admin.post("/v1/processed", report(partition=0, offset=2)) == {"count": 1}
    assert admin.post("/v1/processed", report(partition=0, offset=[0, 2])) == {"count": 2}

    verdict = admin.get("/v1/verdict", group=GROUP)
    (partition,) = verdict["partitions"]
    assert (partition["processed"], partition["processed_from"]) == (2, "reports")
    assert [(each["kind"], each["offsets"]) for each in verdict["findings"]] == [
        ("processed_twice", [2, 2]),
        ("never_processed", [1, 1]),
        ("processed_uncommitted", [0, 0]),
        ("processed_uncommitted", [2, 2]),
    ]


@pytest.mark.parametrize(
    ("places", "field"),
    [
        ({}, "offset"),
        ({"partition": 0}, "offset"),
        ({"offset": 1}, "offset"),
        ({"event": "A-1"}, "offset"),
        ({"partition": 0, "offset": 1, "event_id": "key"}, "offset"),
        ({"event": "A-1", "event_id": "keys"}, "event_id"),
        ({"partition": 0, "offset": -1}, "offset"),
    ],
)
def test_report_that_names_no_record_is_400(admin: AdminClient, places: dict[str, Any], field: str) -> None:
    answer = admin.call("POST", "/v1/processed", report(**places))

    assert (answer.status, answer.error["field"]) == (400, field)


def test_report_about_an_unknown_topic_is_404(admin: AdminClient) -> None:
    answer = admin.call("POST", "/v1/processed", {**report(partition=0, offset=1), "topic": TOPIC[:-1]})

    assert (answer.status, answer.error["field"]) == (404, "topic")


def test_report_about_an_unknown_partition_is_404(admin: AdminClient) -> None:
    answer = admin.call("POST", "/v1/processed", report(partition=100, offset=1))

    assert (answer.status, answer.error["field"]) == (404, "partition")
