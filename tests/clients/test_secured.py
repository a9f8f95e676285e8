"""Python's clients over SASL_SSL with a throw-away certificate: each mechanism, and what a wrong password does."""

import asyncio
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, Producer

from fauxka.testing.remote_broker import RemoteBroker

from ..serving_process import Serving, serving
from .aiokafka_client import aiokafka
from .client import STEP_SECONDS_MAX
from .kafka_python_client import kafka

pytestmark = pytest.mark.clients

TOPIC = "secured"
MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
VALUES = [b"a", b"b", b"c"]
USER, PASSWORD = "alice", "secret"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("secured")


@pytest.fixture(scope="module")
def broker(folder: Path) -> Iterator[Serving]:
    options = [
        "--listener",
        "SASL_SSL",
        "--port",
        "0",
        "--admin-port",
        "0",
        "--user",
        f"{USER}:{PASSWORD}",
        "--tls-dir",
        str(folder),
    ]
    with serving(folder, *options, "-c", "group.initial.rebalance.delay.ms=0") as running:
        yield running


def librdkafka_options(broker: Serving, folder: Path, mechanism: str, password: str = PASSWORD) -> dict[str, str]:
    return {
        "bootstrap.servers": broker.bootstrap,
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": str(folder / "ca.pem"),
        "sasl.mechanism": mechanism,
        "sasl.username": USER,
        "sasl.password": password,
    }


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_confluent_kafka_writes_and_reads(broker: Serving, folder: Path, mechanism: str) -> None:
    options, topic = librdkafka_options(broker, folder, mechanism), f"{TOPIC}-confluent-{mechanism}"
    producer = Producer(dict(options))
    for value in VALUES:
        producer.produce(topic, value)
    assert producer.flush(STEP_SECONDS_MAX) == 0

    consumer = Consumer({**options, "group.id": topic, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    messages = consumer.consume(len(VALUES), STEP_SECONDS_MAX)
    consumer.close()

    assert [message.value() for message in messages] == VALUES


def aiokafka_options(broker: Serving, folder: Path, mechanism: str) -> dict[str, object]:
    return {
        "bootstrap_servers": broker.bootstrap,
        "security_protocol": "SASL_SSL",
        "ssl_context": ssl.create_default_context(cafile=folder / "ca.pem"),
        "sasl_mechanism": mechanism,
        "sasl_plain_username": USER,
        "sasl_plain_password": PASSWORD,
    }


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_aiokafka_writes_and_reads(broker: Serving, folder: Path, mechanism: str) -> None:
    async def write_and_read() -> list[bytes | None]:
        options = aiokafka_options(broker, folder, mechanism)
        topic = f"{TOPIC}-aiokafka-{mechanism}"
        async with aiokafka.AIOKafkaProducer(**options) as producer:
            for value in VALUES:
                await producer.send_and_wait(topic, value)
        async with aiokafka.AIOKafkaConsumer(topic, auto_offset_reset="earliest", **options) as consumer:
            return [(await asyncio.wait_for(consumer.getone(), STEP_SECONDS_MAX)).value for _ in VALUES]

    assert asyncio.run(write_and_read()) == VALUES


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_kafka_python_writes_and_reads(broker: Serving, folder: Path, mechanism: str) -> None:
    options = {
        "bootstrap_servers": broker.bootstrap,
        "security_protocol": "SASL_SSL",
        "ssl_cafile": str(folder / "ca.pem"),
        "sasl_mechanism": mechanism,
        "sasl_plain_username": USER,
        "sasl_plain_password": PASSWORD,
    }
    topic = f"{TOPIC}-kafka-python-{mechanism}"
    producer = kafka.KafkaProducer(**options)
    for value in VALUES:
        producer.send(topic, value).get(STEP_SECONDS_MAX)
    producer.close()

    consumer = kafka.KafkaConsumer(topic, auto_offset_reset="earliest", **options)
    values = [next(consumer).value for _ in VALUES]
    consumer.close()

    assert values == VALUES


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_wrong_password_is_an_error_of_authentication(broker: Serving, folder: Path, mechanism: str) -> None:
    errors: list[KafkaError] = []
    producer = Producer(
        {
            **librdkafka_options(broker, folder, mechanism, "wrong"),
            "error_cb": errors.append,
            "message.timeout.ms": 3000,
        }
    )
    producer.produce(TOPIC, b"never")
    producer.flush(STEP_SECONDS_MAX)

    assert KafkaError._AUTHENTICATION in {error.code() for error in errors}


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_confluent_kafka_authenticates_after_a_rejected_login(broker: Serving, folder: Path, mechanism: str) -> None:
    assert broker.admin is not None
    errors: list[KafkaError] = []
    with RemoteBroker(broker.admin).faults.rejected_login(principal=f"User:{USER}", mechanism=mechanism) as rule:
        producer = Producer({**librdkafka_options(broker, folder, mechanism), "error_cb": errors.append})
        producer.produce(f"{TOPIC}-rejected-{mechanism}", b"v")
        left = producer.flush(STEP_SECONDS_MAX)

        assert (left, rule.hits) == (0, 1)
    assert KafkaError._AUTHENTICATION in {error.code() for error in errors}


def test_aiokafka_reports_a_rejected_login(broker: Serving, folder: Path) -> None:
    assert broker.admin is not None

    async def start() -> None:
        producer = aiokafka.AIOKafkaProducer(**aiokafka_options(broker, folder, "PLAIN"))
        try:
            await producer.start()
        finally:
            await producer.stop()

    with RemoteBroker(broker.admin).faults.rejected_login(principal=f"User:{USER}", times=None) as rule:
        with pytest.raises(aiokafka.errors.KafkaConnectionError):
            asyncio.run(start())
        assert rule.hits > 0
