"""The dead-letter queue of a share group (KIP-1191) with the share consumer of kafka-clients 4.4.0, on both brokers."""

import subprocess
from pathlib import Path

import pytest

from fauxka.testing import Broker

from ..reference.kafka_process import reference_jars, running_kafka

pytestmark = pytest.mark.java

KAFKA_VERSION = "4.4.0"
PROGRAM = Path(__file__).parent / "java" / "DeadLetters.java"
PROGRAM_SECONDS_MAX = 300
PRINTED = [
    "acknowledged 3",
    "key-1 value-1",
    "__dlq.errors.topic orders",
    "__dlq.errors.partition 0",
    "__dlq.errors.offset 1",
    "__dlq.errors.group billing",
    "__dlq.errors.delivery.count 1",
    "__dlq.errors.message Offset rejected by client.",
]


def printed_by_java(bootstrap: str) -> list[str]:
    """Return the lines of the program: what it acknowledged, and the dead letter."""
    command = ["java", "-cp", f"{reference_jars(KAFKA_VERSION)}/*", str(PROGRAM), bootstrap]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=PROGRAM_SECONDS_MAX)
    return result.stdout.splitlines()


def test_rejected_record_is_a_dead_letter_with_key_value_and_six_headers() -> None:
    with Broker(as_version=KAFKA_VERSION) as broker:
        assert printed_by_java(broker.bootstrap_servers) == PRINTED


@pytest.mark.reference
def test_real_kafka_has_the_same_dead_letter(tmp_path: Path) -> None:
    with running_kafka(tmp_path / "kafka.log", version=KAFKA_VERSION) as bootstrap:
        assert printed_by_java(bootstrap) == PRINTED
