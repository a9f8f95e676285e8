"""Topics of a broker: fetched rows equal the rows of its files, in splits of any size."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from fauxka.client.broker_connection import BrokerConnection
from fauxka.client.errors import BrokerError
from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.read.fetch_log import FetchLog
from fauxka.pipeline.read.fetch_splits import DataLossError
from fauxka.pipeline.read.log_splits import open_log
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from fauxka.storage.log_files import PartitionName
from fauxka.testing import Broker

from .logs_on_disk import options_of, read, rows_of

MESSAGES = 300

Headers = list[tuple[str, str | bytes | None]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def broker(folder: Path) -> Iterator[Broker]:
    with Broker(config={"num.partitions": "2"}, data_dir=folder) as broker:
        produce(broker, "lz4", idempotent=True)
        produce(broker, "none", idempotent=False)
        yield broker


def produce(broker: Broker, codec: str, *, idempotent: bool) -> None:
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "compression.type": codec,
            "enable.idempotence": idempotent,
            "batch.num.messages": 20,
        }
    )
    for number in range(MESSAGES):
        headers: Headers = [("number", str(number).encode())] if number % 3 == 0 else []
        producer.produce("t", f"value {number}", f"key {number}", partition=number % 2, headers=headers)
    assert producer.flush(30) == 0


@pytest.mark.parametrize("view", ["records", "batches"])
def test_fetched_rows_equal_the_rows_of_the_files(broker: Broker, folder: Path, view: str) -> None:
    fetched = read(bootstrap=broker.bootstrap_servers, topics="t", view=view)

    stored = read(path=folder, topics="t", view=view)
    for row in (*fetched, *stored):
        row.pop("file", None)
        row.pop("position", None)
    assert fetched == stored
    assert len(fetched) == 2 * MESSAGES or view == "batches"


@pytest.mark.deep
@pytest.mark.slice
@pytest.mark.parametrize("view", ["records", "batches"])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_splits_of_any_size_return_each_row_once(broker: Broker, view: str, size: int) -> None:
    whole = read(bootstrap=broker.bootstrap_servers, view=view, startingOffsets=json.dumps({"t": {"0": 101}}))

    parts = read(
        bootstrap=broker.bootstrap_servers,
        view=view,
        startingOffsets=json.dumps({"t": {"0": 101}}),
        splitRecords=size,
    )

    assert parts == whole
    assert whole


def test_starting_and_ending_offsets_limit_the_rows(broker: Broker) -> None:
    rows = read(
        bootstrap=broker.bootstrap_servers,
        topicPattern="t+",
        startingOffsets=json.dumps({"t": {"0": 5, "1": -1}}),
        endingOffsets=json.dumps({"t": {"0": 8}}),
    )

    assert [(row["partition"], row["offset"]) for row in rows] == [(0, 5), (0, 6), (0, 7)]


def test_a_stream_reads_from_end_to_end(broker: Broker) -> None:
    log = open_log(options_of(bootstrap=broker.bootstrap_servers, topics="t", startingOffsets="latest"))
    assert isinstance(log, FetchLog)
    start = log.beginnings()
    produce(broker, "gzip", idempotent=True)

    end = log.ends()
    rows = rows_of(log.splits_between(start, end))

    assert [end[PartitionName("t", partition)] - start[PartitionName("t", partition)] for partition in (0, 1)] == [
        150
    ] * 2
    assert sorted(int(row["value"].split()[1]) for row in rows) == list(range(MESSAGES))
    assert log.splits_between(end, end) == []


def test_an_unknown_topic_is_one_line_and_is_not_created(broker: Broker) -> None:
    with pytest.raises(BadOption, match=r"topics: the broker .* has no topic nowhere"):
        read(bootstrap=broker.bootstrap_servers, topics="nowhere")

    assert "nowhere" not in {row["topic"] for row in read(bootstrap=broker.bootstrap_servers)}


def test_an_unreachable_broker_is_one_line() -> None:
    with pytest.raises(BrokerError, match=r"broker 127\.0\.0\.1:1: no connection: Connection refused"):
        read(bootstrap="127.0.0.1:1", topics="t")


def test_deleted_offsets_are_a_data_loss(tmp_path: Path) -> None:
    with Broker(config={"num.partitions": "1"}) as broker:
        produce_one_topic(broker)
        delete_records_before(broker, 10)

        with pytest.raises(DataLossError, match=r"t-0: offset 3 is missing: the log begins at 10"):
            read(bootstrap=broker.bootstrap_servers, topics="t", startingOffsets='{"t": {"0": 3}}')
        rows = read(
            bootstrap=broker.bootstrap_servers, topics="t", startingOffsets='{"t": {"0": 3}}', failOnDataLoss="false"
        )

        assert [row["offset"] for row in rows] == list(range(10, 20))


def produce_one_topic(broker: Broker) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for number in range(20):
        producer.produce("t", str(number))
    assert producer.flush(30) == 0


def delete_records_before(broker: Broker, offset: int) -> None:
    request = DeleteRecordsRequest(
        topics=[DeleteRecordsTopic(name="t", partitions=[DeleteRecordsPartition(partition_index=0, offset=offset)])],
        timeout_ms=5000,
    )
    host, port = broker.bootstrap_servers.split(":")
    with BrokerConnection(host, int(port), timeout_seconds=5.0) as connection:
        response = connection.send(ApiKey.DELETE_RECORDS, request, DeleteRecordsResponse.read)
    assert response.topics[0].partitions[0].low_watermark == offset
