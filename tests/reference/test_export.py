"""What fauxka hands over, a real Kafka serves: the same offsets and batches, and the same answers to retries."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fauxka.protocol.record_batch import Compression
from fauxka.protocol.records import BatchOptions, Record, build_batch
from fauxka.testing import Broker

from ..golden.raw_batches import batch
from ..serving_process import run
from .kafka_process import kafka_process
from .log_client import LogClient, Stored, log_client

pytestmark = pytest.mark.reference

OUT_OF_ORDER_SEQUENCE_NUMBER = 45
SEGMENT_BYTES = 1024 * 1024
TOPICS = {"plain": 2, "codecs": 1, "producers": 1, "shortened": 1, "emptied": 1, "untouched": 1, "rolled": 1}


def now_ms() -> int:
    """Kafka forgets producers whose last record is older than a day, so that the batches have to be new."""
    return int(time.time() * 1000)


class Filled:
    """A broker's topics, and what to ask the one that takes them over."""

    def __init__(self, client: LogClient) -> None:
        self.last_batches: dict[int, bytes] = {}
        self.last_offsets: dict[int, int] = {}
        self.timestamp = now_ms()
        for name, partition_count in TOPICS.items():
            client.create_topic(name, partition_count, {"retention.ms": "-1", "segment.bytes": str(SEGMENT_BYTES)})
        self._fill(client)
        self.topic_ids = {name: client.topic_id(name) for name in TOPICS}
        self.stored = {name: stored_in(client, name) for name in TOPICS}

    def _fill(self, client: LogClient) -> None:
        for partition in range(TOPICS["plain"]):
            for size in (1, 10, 100):
                client.append("plain", batch(size, self.timestamp), partition)
        for codec in Compression:
            client.append("codecs", self._batch_with_headers(codec))
        for _ in range(3):
            self._produce(client, client.new_producer_id(), batch_count=7)
        for topic, kept_from in (("shortened", 7), ("emptied", 20)):
            for _ in range(4):
                client.append(topic, batch(5, self.timestamp))
            client.delete_records(topic, kept_from)
        for _ in range(5):
            client.append("rolled", batch(1, self.timestamp, value=bytes(SEGMENT_BYTES * 2 // 5)))

    def _batch_with_headers(self, codec: Compression) -> bytes:
        records = [
            Record(b"value " * 50, f"key {index}".encode(), self.timestamp + index, (("first", b"1"), ("second", None)))
            for index in range(10)
        ]
        return build_batch(records, BatchOptions(compression=codec))

    def _produce(self, client: LogClient, producer_id: int, batch_count: int) -> None:
        for base_sequence in range(0, 2 * batch_count, 2):
            produced = batch(2, self.timestamp, producer_id=producer_id, producer_epoch=0, base_sequence=base_sequence)
            self.last_offsets[producer_id] = client.append("producers", produced)
            self.last_batches[producer_id] = produced


def stored_in(client: LogClient, topic: str) -> list[Stored]:
    return [client.stored(topic, partition) for partition in range(TOPICS[topic])]


@contextmanager
def handed_over(folder: Path) -> Generator[tuple[Filled, LogClient], None, None]:
    with Broker() as broker, log_client(broker.bootstrap_servers) as client:
        filled = Filled(client)
        ended = run("export", str(folder / "exported"), "--from", broker.bootstrap_servers)
        assert ended.exit_code == 0, ended.log
    with (
        kafka_process(folder / "kafka.log", data=folder / "exported") as kafka,
        log_client(kafka.address) as client,
    ):
        for topic, partition_count in TOPICS.items():
            for partition in range(partition_count):
                client.wait_until_led(topic, partition)
        yield filled, client


@pytest.fixture(scope="module")
def taken_over(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Filled, LogClient], None, None]:
    with handed_over(tmp_path_factory.mktemp("export")) as both:
        yield both


@pytest.mark.parametrize("topic", TOPICS)
def test_kafka_serves_the_same_batches_at_the_same_offsets(taken_over: tuple[Filled, LogClient], topic: str) -> None:
    filled, kafka = taken_over

    assert stored_in(kafka, topic) == filled.stored[topic]


def test_kafka_answers_a_retry_of_a_producers_last_batch_with_its_offset(
    taken_over: tuple[Filled, LogClient],
) -> None:
    filled, kafka = taken_over

    answers = {producer_id: kafka.produce("producers", data) for producer_id, data in filled.last_batches.items()}

    assert {producer_id: answer.base_offset for producer_id, answer in answers.items()} == filled.last_offsets
    assert kafka.stored("producers") == filled.stored["producers"][0]


def test_kafka_refuses_a_gap_in_a_producers_sequences(taken_over: tuple[Filled, LogClient]) -> None:
    filled, kafka = taken_over
    producer_id = next(iter(filled.last_batches))

    gap = batch(1, filled.timestamp, producer_id=producer_id, producer_epoch=0, base_sequence=1000)

    assert kafka.produce("producers", gap).error_code == OUT_OF_ORDER_SEQUENCE_NUMBER


def test_kafka_gives_a_new_producer_an_id_that_no_log_holds(taken_over: tuple[Filled, LogClient]) -> None:
    filled, kafka = taken_over

    assert kafka.new_producer_id() > max(filled.last_batches)


def test_kafka_keeps_the_topics_ids(taken_over: tuple[Filled, LogClient]) -> None:
    filled, kafka = taken_over

    assert {topic: kafka.topic_id(topic) for topic in TOPICS} == filled.topic_ids
