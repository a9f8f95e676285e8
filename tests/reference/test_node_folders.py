"""Kafka's own tool reads the folder of each of three nodes, after a node was killed and came back."""

import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from fauxka.admin.client.admin_client import AdminClient, parse_address

from ..serving_process import serving, stop
from .dump_tool import dumped, indexes_checked, log_files
from .log_client import log_client

pytestmark = pytest.mark.reference

NODES = (1, 2, 3)
PARTITIONS = ("orders-0", "orders-1", "__transaction_state-0")
OPTIONS = ("--nodes", "3", "--admin-port", "0", "-c", "transaction.state.log.num.partitions=1")
TOPIC_CONFIGS = {"internal.segment.bytes": "4096", "index.interval.bytes": "512"}
TRANSACTIONS, RECORDS = 12, 20
SECONDS_MAX = 60.0


def produce(producer: Producer) -> None:
    """Produce transactions, every third of which is aborted."""
    for number in range(TRANSACTIONS):
        producer.begin_transaction()
        for record in range(RECORDS):
            producer.produce("orders", b"%d/%d " % (number, record) + bytes(100), partition=record % 2)
        if number % 3 == 2:
            producer.flush(SECONDS_MAX)
            producer.abort_transaction(SECONDS_MAX)
        else:
            producer.commit_transaction(SECONDS_MAX)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path, None, None]:
    """The folder of three nodes, of which node 2 was killed between records and came back."""
    folder = tmp_path_factory.mktemp("nodes")
    with serving(folder, *OPTIONS, "--data-dir", str(folder / "data")) as broker:
        assert broker.admin is not None
        admin = AdminClient(parse_address(broker.admin))
        with log_client(broker.bootstrap.partition(",")[0]) as client:
            client.create_topic("orders", 2, TOPIC_CONFIGS, len(NODES))
        producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": "orders"})
        producer.init_transactions(SECONDS_MAX)
        produce(producer)
        admin.call("POST", "/v1/nodes/2/stop", b'{"controlled": false, "noticed": true}')
        produce(producer)
        admin.call("POST", "/v1/nodes/2/start")
        produce(producer)
        assert stop(broker, signal.SIGTERM).exit_code == 0
    yield folder / "data"


@pytest.mark.parametrize("partition", PARTITIONS)
def test_dump_tool_prints_the_files_of_every_node_without_complaint(data: Path, partition: str) -> None:
    for node in NODES:
        folder = data / f"node-{node}" / partition
        printed = dumped(folder)

        assert printed.complaints == []
        assert printed.files == [file.name for file in log_files(folder)]
        assert indexes_checked(folder).complaints == []


@pytest.mark.parametrize("partition", PARTITIONS)
def test_the_logs_of_all_nodes_are_equal(data: Path, partition: str) -> None:
    logs = [
        {file.name: file.read_bytes() for file in (data / f"node-{node}" / partition).glob("*.log")} for node in NODES
    ]

    assert logs[0] == logs[1] == logs[2]
    assert any(logs[0].values())
