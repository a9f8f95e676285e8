"""What a running fauxka hands over, a real Kafka serves: the same batches, and the same answers to retries."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from fauxka.broker.config.config_resources import ResourceType
from fauxka.storage.checkpoints.properties_file import parse_properties
from fauxka.testing import Broker

from ..broker.blocking_client import BlockingClient
from ..serving_process import run
from .dump_tool import Dumped, dumped
from .kafka_process import kafka_process
from .log_client import ProduceAnswer, Stored, log_client
from .log_scene import PARTITION_COUNTS, TOPICS, WRAPPING_PRODUCER, LogScene, answers_to, stored_in, wait_until_led

pytestmark = pytest.mark.reference

# What the export says of where Kafka listens: the test's own ports go before it.
ADDRESSES = ("listeners", "advertised.listeners", "controller.quorum.voters", "log.dirs")
RETENTION_HOURS = 200


@dataclass(frozen=True)
class TakenOver:
    """What fauxka and Kafka hold and answer, the one after the other."""

    segments: Mapping[str, int]
    dumps: Mapping[str, Dumped]
    logs_of_fauxka: Mapping[str, list[Stored]]
    logs_of_kafka: Mapping[str, list[Stored]]
    ids_of_fauxka: Mapping[str, bytes]
    ids_of_kafka: Mapping[str, bytes]
    answers_of_fauxka: Mapping[str, ProduceAnswer]
    answers_of_kafka: Mapping[str, ProduceAnswer]
    new_producer_id: int
    topics_retention: str | None
    brokers_retention: str | None


@pytest.fixture(scope="module")
def taken_over(tmp_path_factory: pytest.TempPathFactory) -> Generator[TakenOver, None, None]:
    folder = tmp_path_factory.mktemp("export")
    exported, scene = folder / "exported", LogScene()
    questions = [question for question in scene.questions() if question.is_in_batches]
    config = {"log.retention.hours": str(RETENTION_HOURS)}
    with Broker(config) as broker, log_client(broker.bootstrap_servers) as client:
        scene.fill(client)
        logs_of_fauxka, ids_of_fauxka = stored_in(client), {topic: client.topic_id(topic) for topic in TOPICS}
        ended = run("export", str(exported), "--from", broker.bootstrap_servers)
        assert ended.exit_code == 0, ended.log
        answers_of_fauxka = answers_to(client, questions)
    partitions = [f"{topic}-{partition}" for topic in TOPICS for partition in range(PARTITION_COUNTS[topic])]
    segments = {partition: len(list((exported / partition).glob("*.log"))) for partition in partitions}
    dumps = {partition: dumped(exported / partition) for partition in partitions}
    with (
        kafka_process(folder / "kafka.log", settings_in(exported), exported) as kafka,
        log_client(kafka.address) as client,
        BlockingClient(kafka.address) as admin,
    ):
        wait_until_led(client)
        yield TakenOver(
            segments=segments,
            dumps=dumps,
            logs_of_fauxka=logs_of_fauxka,
            logs_of_kafka=stored_in(client),
            ids_of_fauxka=ids_of_fauxka,
            ids_of_kafka={topic: client.topic_id(topic) for topic in TOPICS},
            answers_of_fauxka=answers_of_fauxka,
            answers_of_kafka=answers_to(client, questions),
            new_producer_id=client.new_producer_id(),
            topics_retention=admin.config(ResourceType.TOPIC, TOPICS[0], "retention.ms"),
            brokers_retention=admin.config(ResourceType.BROKER, "1", "log.retention.hours"),
        )


def settings_in(folder: Path) -> dict[str, str]:
    settings = parse_properties((folder / "server.properties").read_text())
    return {name: value for name, value in settings.items() if name not in ADDRESSES}


@pytest.mark.parametrize("topic", TOPICS)
def test_kafka_serves_the_same_batches_at_the_same_offsets(taken_over: TakenOver, topic: str) -> None:
    assert taken_over.logs_of_kafka[topic] == taken_over.logs_of_fauxka[topic]


def test_producers_get_the_answers_that_fauxka_gives(taken_over: TakenOver) -> None:
    assert taken_over.answers_of_kafka == taken_over.answers_of_fauxka


def test_kafka_gives_a_new_producer_an_id_that_no_log_holds(taken_over: TakenOver) -> None:
    assert taken_over.new_producer_id > WRAPPING_PRODUCER


def test_kafka_keeps_the_topics_ids(taken_over: TakenOver) -> None:
    assert taken_over.ids_of_kafka == taken_over.ids_of_fauxka


def test_kafka_keeps_the_configs_that_were_set(taken_over: TakenOver) -> None:
    assert taken_over.topics_retention == "-1"
    assert taken_over.brokers_retention == str(RETENTION_HOURS)


def test_a_log_beyond_segment_bytes_has_several_segments(taken_over: TakenOver) -> None:
    assert {topic for topic, count in taken_over.segments.items() if count > 1} == {"large-0"}


def test_dump_tool_has_no_complaint(taken_over: TakenOver) -> None:
    assert {partition: dump.complaints for partition, dump in taken_over.dumps.items() if dump.complaints} == {}
