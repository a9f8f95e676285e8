"""Records over HTTP: listed in pages, and seeded."""

from collections.abc import Iterator, Mapping

import pytest

from ..broker.topic_client import TOPIC, TopicClient
from ..serving_process import Serving
from .admin_client import AdminClient

PATH = "/v1/topics/orders/records"


@pytest.fixture(autouse=True)
def orders(admin: AdminClient) -> Iterator[None]:
    """A topic of two partitions without records."""
    admin.call("DELETE", "/v1/topics/orders")
    admin.post("/v1/topics", {"name": "orders", "partitions": 2})
    yield
    admin.call("DELETE", "/v1/topics/orders")


def seed(admin: AdminClient, *records: Mapping[str, object]) -> None:
    admin.post(PATH, {"records": list(records)})


def test_record_has_all_its_parts(admin: AdminClient, broker: Serving) -> None:
    with TopicClient(broker.bootstrap) as client:
        base_offset = client.produce(5).base_offset

    (record,) = admin.get(f"/v1/topics/{TOPIC}/records", from_offset=base_offset)["items"]

    assert record == {
        "partition": 0,
        "offset": base_offset,
        "timestamp": 1000,
        "timestamp_type": "CreateTime",
        "key": None,
        "value": "value 5",
        "headers": [],
        "producer_id": 1,
        "producer_epoch": 0,
        "sequence": 5,
        "is_control": False,
        "transaction": "none",
        "compression": "none",
        "leader_epoch": 0,
    }


def test_bytes_are_text_if_they_are_utf_8_and_otherwise_base64(admin: AdminClient) -> None:
    headers = [{"name": "text", "value": "ü"}, {"name": "bytes", "value": {"base64": "/w=="}}, {"name": "null"}]
    seed(admin, {"key": "k", "value": {"base64": "/w=="}, "headers": headers})

    (record,) = admin.get(PATH)["items"]

    assert (record["key"], record["value"]) == ("k", {"base64": "/w=="})
    assert record["headers"] == [
        {"name": "text", "value": "ü"},
        {"name": "bytes", "value": {"base64": "/w=="}},
        {"name": "null", "value": None},
    ]


def test_listed_record_can_be_seeded_again(admin: AdminClient) -> None:
    seed(admin, {"key": "k", "value": {"base64": "/w=="}, "headers": [{"name": "n", "value": "x"}]})
    (record,) = admin.get(PATH)["items"]
    fields = ("key", "value", "headers", "partition", "timestamp")

    seed(admin, {name: record[name] for name in fields})

    (first, second) = admin.get(PATH)["items"]
    assert {**first, "offset": 1} == second


def test_pages_have_every_record_once(admin: AdminClient) -> None:
    seed(admin, *({"value": f"{number}"} for number in range(7)))

    pages = [admin.get(PATH, limit=2)]
    while pages[-1]["next"] is not None:
        pages.append(admin.get(PATH, limit=2, since=pages[-1]["next"]))

    places = [(item["partition"], item["offset"]) for page in pages for item in page["items"]]
    assert places == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2)]
    assert [len(page["items"]) for page in pages] == [2, 2, 2, 1]


def test_partition_and_offsets_are_filters(admin: AdminClient) -> None:
    seed(admin, *({"value": f"{number}", "partition": number % 2} for number in range(8)))

    page = admin.get(PATH, partition=1, from_offset=1, to_offset=2)

    assert [item["value"] for item in page["items"]] == ["3", "5"]
    assert page["next"] is None


@pytest.mark.parametrize(
    ("path", "field"),
    [("/v1/topics/oders/records", "topic"), (f"{PATH}?partition=2", "partition"), ("/v1/topics/oders", "topic")],
)
def test_unknown_topic_and_partition_are_404(admin: AdminClient, path: str, field: str) -> None:
    answer = admin.call("GET", path)

    assert (answer.status, answer.error["field"]) == (404, field)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("from_offset=-1", "from_offset"),
        ("to_offset=x", "to_offset"),
        ("limit=0", "limit"),
        ("since=1", "since"),
        ("since=0/x", "since"),
        (f"since=0/{'9' * 20}", "since"),
        ("offset=1", "offset"),
    ],
)
def test_invalid_parameter_is_400(admin: AdminClient, query: str, field: str) -> None:
    answer = admin.call("GET", f"{PATH}?{query}")

    assert (answer.status, answer.error["field"]) == (400, field)


def test_damaged_batch_is_409_with_its_offset_and_the_next_one(admin: AdminClient) -> None:
    seed(admin, {"value": "a", "partition": 0})
    admin.post("/v1/files", {"action": "corrupt", "file_kind": "log", "folder": "orders-0"})
    seed(admin, {"value": "b", "partition": 0})
    admin.delete("/v1/files")

    first = admin.get(PATH)
    answer = admin.call("GET", PATH, since=first["next"])

    assert ([item["value"] for item in first["items"]], first["next"]) == (["a"], "0/1")
    assert (answer.status, answer.error["field"], answer.error["value"]) == (409, "from_offset", 1)
    assert "from_offset 2 continues after it" in answer.error["message"]


def test_seeded_records_are_answered_with_their_places(admin: AdminClient) -> None:
    answer = admin.call("POST", PATH, {"records": [{"value": "a", "timestamp": 5}, {"value": "b", "timestamp": 6}]})

    assert answer.status == 201
    assert answer.json == {
        "items": [{"partition": 0, "offset": 0, "timestamp": 5}, {"partition": 1, "offset": 0, "timestamp": 6}]
    }


@pytest.mark.parametrize(
    ("record", "status", "field"),
    [
        ({"partition": 2}, 404, "records[1].partition"),
        ({"value": {}}, 400, "records[1].value"),
        ({"value": {"base64": "?"}}, 400, "records[1].value.base64"),
        ({"headers": [{"value": "x"}]}, 400, "records[1].headers[0].name"),
        ({"vale": "x"}, 400, "records[1].vale"),
    ],
)
def test_invalid_record_is_an_error_and_none_is_appended(
    admin: AdminClient, record: dict[str, object], status: int, field: str
) -> None:
    answer = admin.call("POST", PATH, {"records": [{"value": "a"}, record]})

    assert (answer.status, answer.error["field"]) == (status, field)
    assert admin.get(PATH)["items"] == []


def test_record_beyond_max_message_bytes_is_400(admin: AdminClient) -> None:
    admin.delete("/v1/topics/orders")
    admin.post("/v1/topics", {"name": "orders", "configs": {"max.message.bytes": 100}})

    answer = admin.call("POST", PATH, {"records": [{"value": "x" * 100}]})

    assert (answer.status, answer.error["field"]) == (400, "records[0]")
    assert "MESSAGE_TOO_LARGE" in answer.error["message"]


@pytest.mark.parametrize("count", [0, 10_001])
def test_no_records_and_too_many_are_400(admin: AdminClient, count: int) -> None:
    answer = admin.call("POST", PATH, {"records": [{"value": "a"}] * count})

    assert (answer.status, answer.error["field"]) == (400, "records")
