"""The remote tier that a real Kafka writes is read beside its log directory: the records are those of the broker."""

import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from ..pipeline.logs_on_disk import read
from .kafka_process import free_ports, kafka_process, reference_jars

pytestmark = [pytest.mark.reference, pytest.mark.timeout(300)]

VERSION = "4.3.0"
SECONDS_MAX = 90
POLL_SECONDS = 0.2
# Some segments of the least size that Kafka allows.
SEGMENT_BYTES = 1024 * 1024
RECORDS = 50_000
# A partition has three segments: the log directory keeps the last two, and the tier has the first two.
LOCAL_BYTES = SEGMENT_BYTES
STORAGE = "org.apache.kafka.server.log.remote.storage.LocalTieredStorage"
COLUMNS = ("partition", "offset", "key", "value", "producer_id", "sequence")


@dataclass(frozen=True)
class Tiered:
    """A broker with a remote tier, and the folders of both."""

    bootstrap: str
    log: Path
    tier: Path


@pytest.fixture(scope="module")
def tiered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tiered]:
    folder = tmp_path_factory.mktemp("tiered")
    jars = folder / "jars" / VERSION
    jars.mkdir(parents=True)
    for jar in Path(reference_jars(VERSION)).iterdir():
        (jars / jar.name).symlink_to(jar)
    fetch_test_jars(jars)
    port = free_ports(2)
    config = {
        "remote.log.storage.system.enable": "true",
        "remote.log.storage.manager.class.name": STORAGE,
        "remote.log.metadata.manager.listener.name": "PLAINTEXT",
        "rlmm.config.remote.log.metadata.topic.replication.factor": "1",
        "rlmm.config.remote.log.metadata.topic.num.partitions": "1",
        "rlmm.config.remote.log.metadata.common.client.bootstrap.servers": f"127.0.0.1:{port}",
        "rsm.config.dir": str(folder),
        "remote.log.manager.task.interval.ms": "500",
        "log.retention.check.interval.ms": "500",
    }
    variables = {"KAFKA_JARS_DIR": str(folder / "jars")}
    with kafka_process(folder / "kafka.log", config, folder / "data", port=port, variables=variables) as kafka:
        yield Tiered(kafka.address, folder / "data", folder / "kafka-tiered-storage")


def fetch_test_jars(folder: Path) -> None:
    """Copy the jars of Kafka's tests, which have the plug-in."""
    project = Path(__file__).with_name("pom.xml")
    command = ["mvn", "-q", "-B", "-f", str(project), "-P", "tier", "dependency:copy-dependencies"]
    subprocess.run(
        [*command, "-DincludeClassifiers=test", f"-Dkafka.version={VERSION}", f"-DoutputDirectory={folder}"],
        env={**os.environ},
        check=True,
        capture_output=True,
    )


@pytest.fixture(scope="module")
def filled(tiered: Tiered) -> Tiered:
    """The topic orders, whose first segments are only in the tier."""
    config = {"remote.storage.enable": "true", "segment.bytes": str(SEGMENT_BYTES), "retention.ms": "-1"}
    topic = NewTopic("orders", 2, 1, config={**config, "local.retention.bytes": str(LOCAL_BYTES)})
    # Its types are incomplete.
    client: Any = AdminClient({"bootstrap.servers": tiered.bootstrap})
    client.create_topics([topic])["orders"].result(SECONDS_MAX)
    producer = Producer({"bootstrap.servers": tiered.bootstrap, "enable.idempotence": True, "linger.ms": 5})
    for number in range(RECORDS):
        producer.produce("orders", bytes(100), str(number).encode(), partition=number % 2)
        if number % 10_000 == 0:
            producer.flush(SECONDS_MAX)
    assert producer.flush(SECONDS_MAX) == 0
    deadline = time.monotonic() + SECONDS_MAX
    while any((tiered.log / f"orders-{partition}" / f"{0:020d}.log").exists() for partition in range(2)):
        assert time.monotonic() < deadline, "the first segments were not moved to the tier"
        time.sleep(POLL_SECONDS)
    return tiered


def test_a_log_and_its_tier_have_each_record_of_the_broker_once(filled: Tiered) -> None:
    of_files = read(path=filled.log, tier=filled.tier, topics="orders")
    of_broker = read(bootstrap=filled.bootstrap, topics="orders")

    assert len(of_broker) == RECORDS
    assert [[row[name] for name in COLUMNS] for row in of_files] == [
        [row[name] for name in COLUMNS] for row in of_broker
    ]


def test_log_and_tier_overlap_and_each_lacks_records(filled: Tiered) -> None:
    log, tier = (len(read(path=path, topics="orders")) for path in (filled.log, filled.tier))

    assert 0 < log < RECORDS
    assert 0 < tier < RECORDS
    assert log + tier > RECORDS
