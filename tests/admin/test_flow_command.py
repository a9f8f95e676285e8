"""The command `fauxka verdict --from --to`."""

from __future__ import annotations

import json

import pytest

from ..serving_process import Ended, Serving, run
from .admin_client import AdminClient

pytestmark = pytest.mark.processes

FLOW = ("--from", "orders", "--to", "invoices", "--event-id", "header:id")


@pytest.fixture(autouse=True)
def topics(admin: AdminClient) -> None:
    admin.post("/v1/reset", {"scope": "all"})
    for topic, numbers in (("orders", range(3)), ("invoices", (0, 2, 2))):
        admin.post("/v1/topics", {"name": topic, "partitions": 1})
        records = [{"headers": [{"name": "id", "value": f"A-{number}"}]} for number in numbers]
        admin.post(f"/v1/topics/{topic}/records", {"records": records})


def verdict(broker: Serving, *words: str) -> Ended:
    return run("verdict", *words, "--ready-file", str(broker.ready_file))


def test_findings_are_shown_with_their_places(broker: Serving) -> None:
    ended = verdict(broker, *FLOW)

    assert ended.exit_code == 1
    assert ended.output.splitlines() == [
        "orders to invoices: 2 findings",
        "  events: input 3, output 2, once 1, lost 1, doubled 1, out of order 0,",
        "          unexpected 0",
        "  lost: A-1 (0@1 to nowhere): no single group is known to read orders",
        "  doubled: A-2 (0@2 to 0@1, 0@2): no single group is known to read orders",
    ]


def test_clean_flow_is_exit_code_0(broker: Serving, admin: AdminClient) -> None:
    admin.post("/v1/topics", {"name": "copies", "partitions": 1})
    records = [{"headers": [{"name": "id", "value": f"A-{number}"}]} for number in range(3)]
    admin.post("/v1/topics/copies/records", {"records": records})

    ended = verdict(broker, "--from", "orders", "--to", "copies", "--event-id", "header:id")

    assert (ended.exit_code, ended.output.splitlines()[0]) == (0, "orders to copies: clean")


def test_verdict_as_json_is_that_of_the_admin_api(broker: Serving, admin: AdminClient) -> None:
    ended = verdict(broker, *FLOW, "--json")

    asked = {"from": "orders", "to": "invoices", "event_id": "header:id"}
    assert json.loads(ended.output) == admin.get("/v1/verdict", **asked)


@pytest.mark.parametrize("words", [("--from", "orders"), ("orders", *FLOW), FLOW[:4]])
def test_incomplete_options_are_refused(broker: Serving, words: tuple[str, ...]) -> None:
    ended = verdict(broker, *words)

    assert (ended.exit_code, ended.output) == (2, "")
    assert "--from" in ended.log or "from, to and event_id" in ended.log
