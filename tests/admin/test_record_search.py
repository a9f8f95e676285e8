"""The search for records over HTTP: its pages, what follows them, and how much a call reads."""

from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Producer

from ..serving_process import Serving
from .admin_client import AdminClient

BEGIN_MS = 1_700_000_000_000
RECORDS = "/v1/topics/searched/records"
PATH = f"{RECORDS}/search"


@pytest.fixture(autouse=True)
def searched(admin: AdminClient) -> Iterator[None]:
    """Twelve records of three partitions, each a millisecond after the one before in the next partition."""
    admin.post("/v1/topics", {"name": "searched", "partitions": 3})
    records = [{"partition": each % 3, "value": f"v{each}", "timestamp": BEGIN_MS + each} for each in range(12)]
    admin.post(RECORDS, {"records": records})
    yield
    admin.call("DELETE", "/v1/topics/searched")


def pages_of(admin: AdminClient, **body: object) -> list[dict[str, Any]]:
    """Return all pages of a search."""
    pages = [admin.post(PATH, body)]
    while pages[-1]["next"] is not None:
        pages.append(admin.post(PATH, {**body, "since": pages[-1]["next"]}))
    return pages


def values_of(page: dict[str, Any]) -> list[str]:
    return [each["value"] for each in page["items"]]


@pytest.mark.parametrize("order", ["newest", "oldest"])
def test_pages_continue_where_the_one_before_ended(admin: AdminClient, order: str) -> None:
    pages = pages_of(admin, order=order, limit=5)

    numbers = range(12) if order == "oldest" else range(11, -1, -1)
    assert [value for page in pages for value in values_of(page)] == [f"v{number}" for number in numbers]
    assert [len(page["items"]) for page in pages[:3]] == [5, 5, 2]


def test_records_that_came_after_a_page_are_found_by_following_it(admin: AdminClient) -> None:
    before = admin.post(PATH, {"limit": 1})
    admin.post(RECORDS, {"records": [{"partition": 2, "value": "new", "timestamp": BEGIN_MS}]})

    after = admin.post(PATH, {"order": "oldest", "since": before["follow"]})
    last = admin.post(PATH, {"order": "oldest", "since": after["follow"]})

    assert values_of(after) == ["new"]
    assert (last["items"], last["next"]) == ([], None)


def test_newest_record_is_found_without_the_large_ones_before_it(admin: AdminClient) -> None:
    for number in range(20):
        record = {"partition": 0, "value": f"{number:02}" + "x" * 1_000_000, "timestamp": BEGIN_MS + 100 + number}
        admin.post(RECORDS, {"records": [record]})

    newest = admin.post(PATH, {"limit": 3})
    found = [page for page in pages_of(admin, regex="^05x") if page["items"]]

    # A page ends after 1 MiB.
    assert [each["offset"] for each in newest["items"]] == [23]
    assert [each["offset"] for page in found for each in page["items"]] == [9]


def test_call_without_a_find_ends_after_its_work_and_has_a_next_page(admin: AdminClient) -> None:
    for _ in range(5):
        admin.post(RECORDS, {"records": [{"value": "a", "timestamp": BEGIN_MS + 100}] * 10_000})

    first, *_, last = pages_of(admin, contains="v0")

    assert first["items"] == []
    assert 0 < first["searched"] < 30_000
    assert values_of(last) == ["v0"]


def test_marker_of_a_transaction_is_listed_and_never_matches(admin: AdminClient, broker: Serving) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": "searched"})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce("searched", "paid", partition=0)
    producer.commit_transaction()

    everything = admin.post(PATH, {"partition": 0})
    matching = admin.post(PATH, {"partition": 0, "regex": ""})

    assert [each["is_control"] for each in everything["items"]] == [True, *[False] * 5]
    assert [each["is_control"] for each in matching["items"]] == [False] * 5


@pytest.mark.parametrize("since", ["1.2.3.4", "a", "-1", "1..2"])
def test_token_that_is_none_is_refused(admin: AdminClient, since: str) -> None:
    answer = admin.call("POST", PATH, {"since": since})

    assert (answer.status, answer.error["field"]) == (400, "since")


def test_unknown_topic_or_partition_is_404(admin: AdminClient) -> None:
    assert admin.call("POST", "/v1/topics/nothing/records/search", {}).status == 404
    assert admin.call("POST", PATH, {"partition": 3}).error["allowed"] == "0 to 2"
