"""Several nodes in process: clients, one set of rules, one journal, one verdict, reset and snapshots."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from fauxka.broker.cluster import Cluster
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from fauxka.storage.producers.producer_state_entry import without_evicted
from fauxka.testing import AsyncBroker, CallError, ConfigError, InvalidValueError

from ..broker.blocking_client import BlockingClient
from .child_pytest import prepare, run_tests
from .transports import Broker

pytest_plugins = ["pytester"]

SECONDS_MAX = 30
TOPIC = "orders"
RECORD_COUNT = 30
REPLICATED = {"default.replication.factor": 3}
NODES = [1, 2, 3]


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker(REPLICATED, nodes=3, racks=["a", "b", "c"]) as started:
        started.topics.create(TOPIC, partitions=3)
        yield started


def address_of(broker: Broker, node: int) -> str:
    return broker.bootstrap_servers.split(",")[node - 1]


def partition_led_by(broker: Broker, node: int) -> int:
    return next(each.partition for each in broker.partitions(TOPIC) if each.leader == node)


def produce(broker: Broker, partition: int, sequence: int = 0, producer_id: int = 5) -> int:
    """Send a batch of one record to the leader of a partition, and return the error code."""
    leader = broker.partitions(TOPIC, partition)[0].leader
    batch = build_batch(
        [Record(value=b"x")], BatchOptions(producer_id=producer_id, producer_epoch=0, base_sequence=sequence)
    )
    with BlockingClient(address_of(broker, leader)) as client:
        return client.produce(TOPIC, batch, partition).error_code


def ask_for_metadata(address: str) -> int:
    """Return the number of brokers that a node lists."""
    with BlockingClient(address) as client:
        return len(client.metadata().brokers)


def end_offsets(broker: Broker) -> list[list[int]]:
    return [[replica.log_end_offset for replica in each.replica_states] for each in broker.partitions(TOPIC)]


@pytest.mark.parametrize("node", NODES)
def test_client_finds_all_leaders_from_any_node(broker: Broker, node: int) -> None:
    producer = Producer({"bootstrap.servers": address_of(broker, node), "enable.idempotence": True})
    for number in range(RECORD_COUNT):
        producer.produce(TOPIC, str(number).encode(), partition=number % 3)
    assert producer.flush(SECONDS_MAX) == 0

    consumer = Consumer(
        {"bootstrap.servers": address_of(broker, node), "group.id": "g", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([TOPIC])
    values = {message.value() for message in consumer.consume(RECORD_COUNT, SECONDS_MAX)}
    consumer.close()

    assert values == {str(number).encode() for number in range(RECORD_COUNT)}
    assert [group.group_id for group in broker.groups.list()] == ["g"]
    assert {entry.node for entry in broker.journal.entries(api="Produce")} == {1, 2, 3}
    verdict = broker.verdict(TOPIC)
    verdict.assert_exactly_once()
    # Followers have the batches too, and are not counted.
    assert verdict.records.in_log == len(broker.records(TOPIC)) == RECORD_COUNT
    assert end_offsets(broker) == [[RECORD_COUNT // 3] * 3] * 3


def test_nodes_and_partitions_are_listed(broker: Broker) -> None:
    nodes, partitions = broker.nodes(), broker.partitions()

    assert [(each.node, each.state, each.rack, each.leads) for each in nodes] == [
        (1, "running", "a", 1),
        (2, "running", "b", 1),
        (3, "running", "c", 1),
    ]
    assert ",".join(each.bootstrap for each in nodes) == broker.bootstrap_servers
    assert [each.is_controller for each in nodes] == [True, False, False]
    assert [(each.topic, each.partition) for each in partitions] == [(TOPIC, 0), (TOPIC, 1), (TOPIC, 2)]
    assert sorted(each.leader for each in partitions) == NODES
    assert all(sorted(each.isr) == NODES and not each.offline for each in partitions)


def test_connections_have_ids_that_are_unique_in_the_cluster(broker: Broker) -> None:
    for node in (1, 2, 3, 1):
        with BlockingClient(address_of(broker, node)) as client:
            client.metadata()

    entries = broker.journal.entries(api="Metadata")

    assert [entry.node for entry in entries] == [1, 2, 3, 1]
    assert len({entry.connection for entry in entries}) == 4


def test_rule_of_a_node_acts_on_that_node_only(broker: Broker) -> None:
    rule = broker.faults.refuse("NOT_LEADER_OR_FOLLOWER", node=2, times=None)

    codes = [produce(broker, partition_led_by(broker, node)) for node in NODES]

    assert codes == [0, 6, 0]
    assert rule.hits == 1


def test_rule_without_a_node_counts_the_requests_of_all_nodes(broker: Broker) -> None:
    rule = broker.faults.refuse("NOT_LEADER_OR_FOLLOWER", skip=1, times=1)

    codes = [produce(broker, partition_led_by(broker, node)) for node in NODES]

    assert codes == [0, 6, 0]
    assert rule.hits == 1


def test_requests_held_on_several_nodes_have_unique_ids_and_are_released_together(broker: Broker) -> None:
    rule = broker.faults.held(api="Metadata", times=None)
    with ThreadPoolExecutor(3) as threads:
        asked = [threads.submit(ask_for_metadata, address_of(broker, node)) for node in NODES]
        rule.await_hits(3)
        held = broker.held.list()
        broker.held.release(*reversed(held))
        counts = [each.result(SECONDS_MAX) for each in asked]

    assert sorted(each.node for each in held) == NODES
    assert [each.id for each in held] == [1, 2, 3]
    assert counts == [3, 3, 3]


def test_file_rule_of_a_node_acts_on_its_files_only_and_all_nodes_share_the_counts() -> None:
    with Broker(nodes=3) as broker:
        broker.topics.create(TOPIC, partitions=3)
        of_node = broker.files.add(action="fail", operation="write", file_kind="log", node=2, when={"times": None})
        codes = [produce(broker, partition_led_by(broker, node)) for node in NODES]
        of_node.remove()
        once = broker.files.add(action="fail", operation="write", file_kind="log", node=[1, 3])
        retried = [produce(broker, partition_led_by(broker, node), sequence=1) for node in (1, 3)]

        assert codes == [0, 56, 0]
        assert retried.count(56) == 1
        assert (once.hits, once.matched) == (1, 2)


def test_file_rule_names_the_node_that_it_misses(broker: Broker) -> None:
    rule = broker.files.add(action="fail", operation="write", node=7)
    produce(broker, partition_led_by(broker, 1))

    assert [miss.message for miss in rule.near_misses][:1] != []
    assert "node" in rule.near_misses[0].field


def test_change_of_a_producer_reaches_every_replica(broker: Broker) -> None:
    produce(broker, 0)

    before = broker.producers.evict_cache(5)

    def cached(cluster: Cluster) -> list[int]:
        topic = cluster.image.topics[TOPIC]
        partitions = [node.replicas.partitions_of(topic)[0] for node in cluster.nodes]
        entries = [each.log.producers.find(5) for each in partitions]
        return [len(without_evicted(entry.batches)) for entry in entries if entry is not None]

    assert [(each.producer_id, len(each.cached)) for each in before] == [(5, 1)]
    assert [len(each.cached) for each in broker.producers.list()] == [0]
    assert broker.call(lambda: cached(broker.cluster)) == [0, 0, 0]


def test_reset_empties_all_nodes_and_keeps_their_addresses(broker: Broker) -> None:
    addresses = broker.bootstrap_servers
    produce(broker, 0)

    broker.reset()

    assert broker.topics.list() == []
    assert broker.journal.entries() == []
    assert broker.bootstrap_servers == addresses
    broker.topics.create(TOPIC, partitions=3)
    assert [produce(broker, index) for index in range(3)] == [0, 0, 0]
    assert end_offsets(broker) == [[1, 1, 1]] * 3


def test_snapshot_restores_the_logs_leaders_and_producers_of_all_nodes(broker: Broker) -> None:
    for partition in range(3):
        produce(broker, partition)
    before = broker.partitions(TOPIC)
    snapshot = broker.snapshot()
    produce(broker, 0, sequence=1)
    broker.topics.delete(TOPIC)

    broker.restore(snapshot)

    restored = broker.partitions(TOPIC)
    assert end_offsets(broker) == [[1, 1, 1]] * 3
    assert [(each.leader, each.replicas, each.isr) for each in restored] == [
        (each.leader, each.replicas, each.isr) for each in before
    ]
    # The last batch is recognised, and the next one reaches the followers.
    assert [produce(broker, 0), produce(broker, 0, sequence=1)] == [0, 0]
    assert end_offsets(broker)[0] == [2, 2, 2]


def test_seeded_records_go_to_the_leaders(broker: Broker) -> None:
    broker.topics.seed(TOPIC, [{"value": "x", "partition": index} for index in range(3)])

    assert end_offsets(broker) == [[1, 1, 1]] * 3
    assert len(broker.records(TOPIC)) == 3


def test_calls_on_nodes_check_their_arguments(broker: Broker) -> None:
    with pytest.raises(InvalidValueError, match='from\\[0\\] cannot be "controler"'):
        broker.isolate(1, ["controler"])  # type: ignore[list-item]
    with pytest.raises(CallError, match="there is no node 4"):
        broker.rejoin(4)
    with pytest.raises(CallError, match="there is no partition 7 of orders"):
        broker.move_leader(TOPIC, 7, 1)
    with pytest.raises(CallError, match="there is no node 9"):
        broker.pause_replication(9)
    with pytest.raises(InvalidValueError, match="partition is given without topic"):
        broker.resume_replication(1, partition=0)
    with pytest.raises(CallError, match="no coordinator yet"):
        broker.move_coordinator(1, group_id="g")
    with pytest.raises(CallError, match="node 1 is running"):
        broker.start_node(1)
    with pytest.raises(InvalidValueError, match="noticed"):
        broker.stop_node(1, noticed=True)
    with pytest.raises(CallError, match="node is missing: there are several nodes"):
        broker.crash()


@pytest.mark.parametrize(
    ("nodes", "racks", "message"),
    [
        (0, None, "nodes: expected an integer from 1 to 16, got 0"),
        (17, None, "nodes: expected an integer from 1 to 16, got 17"),
        (2, ["a"], "racks: expected a rack for each of 2 nodes, got 1: a"),
        (2, "ab", "racks: expected a name for each node, got 'ab'"),
        (2, iter("ab"), "racks: expected a name for each node, got <str_"),
        (2, 5, "racks: expected a name for each node, got 5"),
        (2, [], "racks: expected a name for each node, got \\[\\]"),
        ("2", None, "nodes: expected an integer from 1 to 16, got '2'"),
    ],
)
def test_wrong_number_of_nodes_or_racks_is_a_config_error(nodes: Any, racks: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Broker(nodes=nodes, racks=racks)


@pytest.mark.parametrize(
    ("folders", "message"),
    [
        ({"import_logs": 5}, r"import_logs: expected a path, got 5 \(int\)"),
        ({"import_logs": ["a", None]}, r"import_logs: expected a path, got None \(NoneType\)"),
        ({"import_logs": b"a"}, r"import_logs: expected a path, got b'a' \(bytes\)"),
        ({"import_logs": iter(["a", "b"])}, "import_logs: expected a path, got <list_iterator"),
        ({"data_dir": 5}, r"data_dir: expected a path, got 5 \(int\)"),
    ],
)
def test_a_folder_that_is_no_path_is_a_config_error(folders: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Broker(nodes=2, **folders)


def test_async_broker_has_several_nodes_too() -> None:
    async def run() -> list[int]:
        async with AsyncBroker(nodes=2) as broker:
            with pytest.raises(CallError, match="node 2 is running"):
                await broker.start_node(2)
            return [each.node for each in await broker.nodes()]

    assert asyncio.run(run()) == [1, 2]


def test_pytest_fixtures_have_the_nodes_of_the_ini_file_or_of_an_override(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = prepare(pytester, monkeypatch)
    run.makeini("[pytest]\nfauxka_nodes = 2\nfauxka_racks = a,b\n")
    run.makepyfile(
        test_two="def test_two(fauxka, fauxka_broker):\n"
        "    assert [node.rack for node in fauxka.nodes()] == ['a', 'b']\n"
        "    assert fauxka is fauxka_broker\n",
        test_three="import pytest\n"
        "@pytest.fixture(scope='session')\ndef fauxka_nodes(): return 3\n"
        "@pytest.fixture(scope='session')\ndef fauxka_racks(): return None\n"
        "def test_three(fauxka, fauxka_bootstrap):\n"
        "    assert len(fauxka.nodes()) == len(fauxka_bootstrap.split(',')) == 3\n",
    )

    run_tests(run).assert_outcomes(passed=2)


def unregister(broker: Broker, node: int) -> None:
    with BlockingClient(address_of(broker, 1)) as client:
        request = UnregisterBrokerRequest(broker_id=node)
        response = client.send(ApiKey.UNREGISTER_BROKER, 0, request, UnregisterBrokerResponse.read)
    assert response.error_code == 0, response


def brokers_of(broker: Broker, node: int) -> list[tuple[int, str, str | None]]:
    """Return the id, the address and the rack of each broker in the metadata of a node."""
    with BlockingClient(address_of(broker, node)) as client:
        return [(each.node_id, f"{each.host}:{each.port}", each.rack) for each in client.metadata().brokers]


def test_a_reset_registers_a_node_again_that_a_client_has_unregistered(broker: Broker) -> None:
    before = brokers_of(broker, 1)
    unregister(broker, 3)
    assert len(brokers_of(broker, 1)) == 2

    broker.reset()
    broker.topics.create(TOPIC, partitions=1)

    assert brokers_of(broker, 1) == brokers_of(broker, 3) == before
    assert sorted(broker.partitions(TOPIC)[0].isr) == NODES
