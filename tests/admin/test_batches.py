"""Headers of batches over HTTP: by Kafka's names, as the log has them, in pages."""

from collections.abc import Iterator

import pytest

from fauxka.protocol.batches.record_batch import parse_header

from ..broker.topic_client import TOPIC, TopicClient, batch
from ..serving_process import Serving
from .admin_client import AdminClient

PATH = "/v1/topics/orders/batches"


@pytest.fixture(autouse=True)
def orders(admin: AdminClient) -> Iterator[None]:
    """A topic of two partitions without records."""
    admin.call("DELETE", "/v1/topics/orders")
    admin.post("/v1/topics", {"name": "orders", "partitions": 2})
    yield
    admin.call("DELETE", "/v1/topics/orders")


def seed(admin: AdminClient, partition: int, *values: str) -> None:
    """Append the values as one batch."""
    records = [{"value": value, "partition": partition} for value in values]
    admin.post("/v1/topics/orders/records", {"records": records})


def test_header_has_the_fields_of_the_batch_that_was_sent(admin: AdminClient, broker: Serving) -> None:
    sent = parse_header(batch(5))
    with TopicClient(broker.bootstrap) as client:
        base_offset = client.produce(5).base_offset

    (header,) = admin.get(f"/v1/topics/{TOPIC}/batches", partition=0, from_offset=base_offset)["items"]

    assert header == {
        "partition": 0,
        "base_offset": base_offset,
        "batch_length": sent.length,
        "partition_leader_epoch": 0,
        "magic": 2,
        "crc": sent.crc,
        "attributes": 0,
        "decoded_attributes": {
            "compression": "none",
            "timestamp_type": "CreateTime",
            "is_transactional": False,
            "is_control": False,
            "has_delete_horizon": False,
        },
        "last_offset_delta": 0,
        "base_timestamp": 1000,
        "max_timestamp": 1000,
        "producer_id": 1,
        "producer_epoch": 0,
        "base_sequence": 5,
        "records_count": 1,
    }


def test_offset_within_a_batch_finds_the_batch(admin: AdminClient) -> None:
    seed(admin, 0, "a", "b", "c")
    seed(admin, 0, "d")

    page = admin.get(PATH, partition=0, from_offset=1, to_offset=2)

    assert [(item["base_offset"], item["records_count"]) for item in page["items"]] == [(0, 3)]
    assert page["next"] is None


def test_pages_have_every_batch_once(admin: AdminClient) -> None:
    for number in range(3):
        seed(admin, 0, "a", "b")
        seed(admin, 1, f"{number}")

    pages = [admin.get(PATH, limit=2)]
    while pages[-1]["next"] is not None:
        pages.append(admin.get(PATH, limit=2, since=pages[-1]["next"]))

    places = [[(item["partition"], item["base_offset"]) for item in page["items"]] for page in pages]
    assert places == [[(0, 0), (0, 2)], [(0, 4), (1, 0)], [(1, 1), (1, 2)]]


@pytest.mark.parametrize(
    ("path", "status", "field"),
    [
        ("/v1/topics/oders/batches", 404, "topic"),
        (f"{PATH}?partition=2", 404, "partition"),
        (f"{PATH}?from_offset=-1", 400, "from_offset"),
        (f"{PATH}?limit=0", 400, "limit"),
        (f"{PATH}?since=0/x", 400, "since"),
    ],
)
def test_invalid_call_names_its_field(admin: AdminClient, path: str, status: int, field: str) -> None:
    answer = admin.call("GET", path)

    assert (answer.status, answer.error["field"]) == (status, field)
