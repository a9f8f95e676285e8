"""Transactional ids over HTTP."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from fauxka.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from fauxka.protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from fauxka.scenarios.clients.raw_connection import RawConnection

from ..broker.topic_client import TOPIC, TopicClient
from ..serving_process import Serving, serving
from .admin_client import AdminClient

TIMEOUT_MS = 60_000


@pytest.fixture
def connection(broker: Serving, admin: AdminClient) -> Iterator[RawConnection]:
    """A connection to a broker without transactional ids, and with a topic."""
    for known in admin.get("/v1/transactions")["items"]:
        admin.call("DELETE", f"/v1/transactions/{known['transactional_id']}")
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)
    opened = RawConnection(broker.bootstrap)
    yield opened
    opened.close()


def init_producer(connection: RawConnection, transactional_id: str) -> InitProducerIdResponse:
    find = FindCoordinatorRequest(key=transactional_id, key_type=1)
    connection.send_and_receive(ApiKey.FIND_COORDINATOR, 3, find, FindCoordinatorResponse.read)
    request = InitProducerIdRequest(
        transactional_id=transactional_id, transaction_timeout_ms=TIMEOUT_MS, producer_id=-1, producer_epoch=-1
    )
    return connection.send_and_receive(ApiKey.INIT_PRODUCER_ID, 4, request, InitProducerIdResponse.read)


def produce(connection: RawConnection, transactional_id: str, producer: InitProducerIdResponse, sequence: int) -> int:
    options = BatchOptions(
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        base_sequence=sequence,
        is_transactional=True,
    )
    data = PartitionProduceData(index=0, records=build_batch([Record(b"v")], options))
    topics = [TopicProduceData(name=TOPIC, partition_data=[data])]
    request = ProduceRequest(transactional_id=transactional_id, acks=-1, timeout_ms=1000, topic_data=topics)
    answer = connection.send_and_receive(ApiKey.PRODUCE, 12, request, ProduceResponse.read)
    return answer.responses[0].partition_responses[0].error_code


def test_list_without_transactional_ids_is_empty(admin: AdminClient, connection: RawConnection) -> None:
    assert admin.get("/v1/transactions") == {"items": [], "next": None}


def test_transactional_id_is_listed_with_its_open_transaction(admin: AdminClient, connection: RawConnection) -> None:
    producer = init_producer(connection, "tx-1")
    produce(connection, "tx-1", producer, 0)

    (info,) = admin.get("/v1/transactions")["items"]

    assert (info["transactional_id"], info["producer_id"], info["producer_epoch"]) == ("tx-1", producer.producer_id, 0)
    assert (info["state"], info["timeout_ms"]) == ("Ongoing", TIMEOUT_MS)
    assert info["partitions"] == [{"topic": TOPIC, "partition": 0}]
    assert 0 < info["started_ms"] <= info["updated_ms"]


def test_transactional_id_without_a_transaction_has_no_start(admin: AdminClient, connection: RawConnection) -> None:
    init_producer(connection, "idle")

    info = admin.get("/v1/transactions/idle")

    assert (info["state"], info["started_ms"], info["partitions"]) == ("Empty", None, [])


def test_transactional_ids_are_listed_in_pages(admin: AdminClient, connection: RawConnection) -> None:
    for name in ("b", "a", "c"):
        init_producer(connection, name)

    first = admin.get("/v1/transactions", limit=2)
    second = admin.get("/v1/transactions", since=first["next"])

    assert [each["transactional_id"] for each in first["items"]] == ["a", "b"]
    assert [each["transactional_id"] for each in second["items"]] == ["c"]


def test_transactional_ids_are_filtered_by_state(admin: AdminClient, connection: RawConnection) -> None:
    init_producer(connection, "empty")
    produce(connection, "open", init_producer(connection, "open"), 0)

    found = admin.get("/v1/transactions", state="Ongoing")["items"]

    assert [each["transactional_id"] for each in found] == ["open"]


def test_deleted_id_fences_its_producer_and_gets_a_new_one(admin: AdminClient, connection: RawConnection) -> None:
    before = init_producer(connection, "tx")
    produce(connection, "tx", before, 0)

    forgotten = admin.call("DELETE", "/v1/transactions/tx")
    refused = produce(connection, "tx", before, 1)
    after = init_producer(connection, "tx")

    assert (forgotten.status, forgotten.json["state"]) == (200, "Ongoing")
    assert refused in (ErrorCode.INVALID_PRODUCER_ID_MAPPING, ErrorCode.INVALID_PRODUCER_EPOCH)
    assert after.producer_id > before.producer_id


def test_deleted_id_has_no_open_transaction(admin: AdminClient, connection: RawConnection) -> None:
    producer = init_producer(connection, "tx")
    produce(connection, "tx", producer, 0)

    admin.call("DELETE", "/v1/transactions/tx")

    (known,) = admin.get("/v1/producers", producer_id=producer.producer_id)["items"]
    assert known["current_txn_first_offset"] is None


def test_an_open_transaction_is_deleted_where_every_append_is_flushed(tmp_path: Path) -> None:
    options = ("--admin-port", "0", "--seed-topic", TOPIC, "--data-dir", str(tmp_path / "data"), "--fsync", "always")
    with serving(tmp_path, *options) as flushed:
        assert flushed.admin is not None
        connection = RawConnection(flushed.bootstrap)
        produce(connection, "tx", init_producer(connection, "tx"), 0)
        admin = AdminClient(flushed.admin)

        deleted = admin.call("DELETE", "/v1/transactions/tx")
        left = admin.get("/v1/transactions")["items"]
        connection.close()

    assert (deleted.status, deleted.json["state"], left) == (200, "Ongoing", [])


def test_unknown_transactional_id_is_404(admin: AdminClient, connection: RawConnection) -> None:
    answers = [admin.call(method, "/v1/transactions/nobody") for method in ("GET", "DELETE")]

    assert [(answer.status, answer.error["field"]) for answer in answers] == [(404, "transactional_id")] * 2
