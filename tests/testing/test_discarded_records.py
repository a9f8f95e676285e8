"""Topics with fauxka.records=discarded: batches are validated and acknowledged, and no record is kept."""

import importlib
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.testing import CallError

from .transports import Broker

pytestmark = pytest.mark.clients

# Without type information.
admin: Any = importlib.import_module("confluent_kafka.admin")

SECONDS_MAX = 30
TOPIC = "load"
DISCARDED = {"fauxka.records": "discarded"}
KIB, MIB = 1024, 1024 * 1024


@pytest.fixture(params=[1, 3], ids=["one node", "three nodes"])
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    with Broker({"default.replication.factor": request.param}, nodes=request.param) as running:
        running.topics.create(TOPIC, partitions=1, configs=DISCARDED)
        yield running


def idempotent_producer(broker: Broker) -> Producer:
    return Producer({"bootstrap.servers": broker.bootstrap_servers, "enable.idempotence": True})


def produce(broker: Broker, count: int, value: bytes = b"v") -> list[int | None]:
    """Produce records one after the other, and return the offsets that were acknowledged."""
    offsets: list[int | None] = []
    producer = idempotent_producer(broker)
    for _ in range(count):
        producer.produce(TOPIC, value, on_delivery=lambda _, message: offsets.append(message.offset()))
        producer.poll(0)
    assert producer.flush(SECONDS_MAX) == 0
    return offsets


def test_offsets_go_on_and_the_log_start_is_the_end(broker: Broker) -> None:
    offsets = [*produce(broker, 3), *produce(broker, 2)]

    (partition,) = broker.partitions(TOPIC)

    assert offsets == [0, 1, 2, 3, 4]
    assert (partition.log_start_offset, partition.high_watermark) == (5, 5)
    assert {(each.log_start_offset, each.log_end_offset) for each in partition.replica_states} == {(5, 5)}
    assert broker.records(TOPIC) == []


def test_consumers_see_a_log_whose_records_were_deleted(broker: Broker) -> None:
    produce(broker, 3)
    settings = {"bootstrap.servers": broker.bootstrap_servers, "group.id": "g", "auto.offset.reset": "error"}
    consumer = Consumer(settings)
    watermarks: Any = consumer.get_watermark_offsets(TopicPartition(TOPIC, 0), SECONDS_MAX)
    consumer.assign([TopicPartition(TOPIC, 0, 1)])
    message = consumer.poll(SECONDS_MAX)
    consumer.close()

    assert watermarks == (3, 3)
    assert message is not None
    error = message.error()
    assert error is not None
    # librdkafka reports OFFSET_OUT_OF_RANGE of a fetch so.
    assert error.code() == KafkaError._AUTO_OFFSET_RESET


def test_verdict_counts_the_records_as_deleted(broker: Broker) -> None:
    produce(broker, 3)

    verdict = broker.verdict(TOPIC)

    assert (verdict.records.deleted, verdict.batches.acknowledged_lost) == (3, 0)
    assert [finding.why for finding in verdict.findings] == ["fauxka.records of the topic is discarded"]


def test_transaction_ends_without_its_records(broker: Broker) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "tx"})
    producer.init_transactions(SECONDS_MAX)
    for end in (producer.commit_transaction, producer.abort_transaction):
        producer.begin_transaction()
        producer.produce(TOPIC, b"v")
        producer.flush(SECONDS_MAX)
        end(SECONDS_MAX)

    (partition,) = broker.partitions(TOPIC)

    # Two records and two markers.
    assert (partition.log_start_offset, partition.high_watermark) == (4, 4)


def test_producer_states_and_offsets_survive_a_crash(broker: Broker) -> None:
    offsets: list[int | None] = []
    producer = idempotent_producer(broker)
    for round_ in range(2):
        producer.produce(TOPIC, b"v", on_delivery=lambda _, message: offsets.append(message.offset()))
        assert producer.flush(SECONDS_MAX) == 0
        leader = broker.partitions(TOPIC)[0].leader
        if not round_:
            broker.crash(node=leader, noticed=True)
            broker.restart(node=leader)

    (partition,) = broker.partitions(TOPIC)
    assert offsets == [0, 1]
    assert (partition.log_start_offset, partition.high_watermark) == (2, 2)


def test_memory_does_not_grow_with_the_records() -> None:
    with Broker() as broker:
        broker.topics.create(TOPIC, partitions=1, configs=DISCARDED)
        sizes: list[int] = []
        for _ in range(3):
            produce(broker, 1000, bytes(32 * KIB))
            files = broker.control.cluster.node.inner_files
            assert isinstance(files, MemoryFileSystem)
            sizes.append(sum(files.open(path).size for path in files_of(files)))

        assert broker.partitions(TOPIC)[0].high_watermark == 3000
        assert max(sizes) < 4 * MIB


def files_of(files: MemoryFileSystem) -> list[str]:
    return [f"{folder}/{name}" for folder in files.folders() for name in files.names_in(folder)]


def topic_resource(name: str, **options: object) -> Any:
    return admin.ConfigResource(admin.ResourceType.TOPIC, name, **options)


def test_any_client_creates_and_describes_the_topic() -> None:
    with Broker() as broker:
        client = admin.AdminClient({"bootstrap.servers": broker.bootstrap_servers})
        new = [admin.NewTopic(TOPIC, 1, 1, config=DISCARDED), admin.NewTopic("plain", 1, 1)]
        for future in client.create_topics(new).values():
            future.result(SECONDS_MAX)

        described = client.describe_configs([topic_resource(name) for name in (TOPIC, "plain")])
        names = {resource.name: list(future.result(SECONDS_MAX)) for resource, future in described.items()}

        assert broker.topics.get(TOPIC).configs == DISCARDED
        assert [name for name in names[TOPIC] if name.startswith("fauxka.")] == ["fauxka.records"]
        assert [name for name in names["plain"] if name.startswith("fauxka.")] == []


def test_records_are_fixed_at_creation(broker: Broker) -> None:
    client = admin.AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    entry = admin.ConfigEntry("fauxka.records", "stored", incremental_operation=admin.AlterConfigOpType.SET)
    resource = topic_resource(TOPIC, incremental_configs=[entry])

    (future,) = client.incremental_alter_configs([resource]).values()

    with pytest.raises(KafkaException, match=r"fauxka\.records is fixed at the creation of the topic: it is discarded"):
        future.result(SECONDS_MAX)


def test_unknown_value_is_refused(broker: Broker) -> None:
    with pytest.raises(CallError, match=r"fauxka\.records"):
        broker.topics.create("other", configs={"fauxka.records": "lost"})
