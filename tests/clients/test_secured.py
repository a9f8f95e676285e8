"""Python's clients over SASL_SSL and with certificates, by the configurations of docs/security.md."""

import asyncio
import ssl
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, Producer

from fauxka.testing.remote_broker import RemoteBroker

from .aiokafka_client import aiokafka
from .client import STEP_SECONDS_MAX
from .kafka_python_client import kafka
from .secured_broker import MECHANISMS, USER, VALUES, SecuredBroker, blocks_of, properties_of

pytestmark = pytest.mark.clients

# kafka-python tries again until then. It needs several attempts: in a third of them it reads the end of the connection
# before the response, and in most of them on a loaded machine, where a process can have no other attempts. So there are
# several processes, each of which has one of these times.
BOOTSTRAP_MS, BACKOFF_MS_MAX = (3000, 3000, 3000, 10_000, 30_000), 100
START_AIOKAFKA = """
import asyncio, ssl
import aiokafka
{block}
async def start():
    await aiokafka.AIOKafkaProducer(**options).start()
asyncio.run(start())
"""
START_KAFKA_PYTHON = """
import logging
import kafka
logging.basicConfig()
{block}
kafka.KafkaProducer(
    **options, bootstrap_timeout_ms={bootstrap_ms}, reconnect_backoff_max_ms={backoff_ms_max}
)
"""


def options_of(program: str) -> dict[str, Any]:
    """Return the options that a block in Python makes."""
    names: dict[str, Any] = {"ssl": ssl}
    exec(program, names)
    options: dict[str, Any] = names["options"]
    return options


def write_and_read_by_confluent_kafka(options: Mapping[str, str], topic: str) -> list[bytes | None]:
    producer = Producer({**options, "enable.idempotence": True})
    for value in VALUES:
        producer.produce(topic, value)
    assert producer.flush(STEP_SECONDS_MAX) == 0
    consumer = Consumer({**options, "group.id": topic, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    messages = consumer.consume(len(VALUES), STEP_SECONDS_MAX)
    consumer.close()
    return [message.value() for message in messages]


async def write_and_read_by_aiokafka(options: Mapping[str, Any], topic: str) -> list[bytes | None]:
    async with aiokafka.AIOKafkaProducer(**options, enable_idempotence=True) as producer:
        for value in VALUES:
            await producer.send_and_wait(topic, value)
    async with aiokafka.AIOKafkaConsumer(topic, auto_offset_reset="earliest", **options) as consumer:
        return [(await asyncio.wait_for(consumer.getone(), STEP_SECONDS_MAX)).value for _ in VALUES]


def write_and_read_by_kafka_python(options: Mapping[str, Any], topic: str) -> list[bytes | None]:
    producer = kafka.KafkaProducer(**options, enable_idempotence=True)
    for value in VALUES:
        producer.send(topic, value).get(STEP_SECONDS_MAX)
    producer.close()
    consumer = kafka.KafkaConsumer(topic, auto_offset_reset="earliest", **options)
    values = [next(consumer).value for _ in VALUES]
    consumer.close()
    return values


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_confluent_kafka_writes_and_reads(secured_broker: SecuredBroker, mechanism: str) -> None:
    options = properties_of(secured_broker.filled(blocks_of("librdkafka")[0], mechanism))

    assert write_and_read_by_confluent_kafka(options, f"confluent-{mechanism}") == VALUES


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_aiokafka_writes_and_reads(secured_broker: SecuredBroker, mechanism: str) -> None:
    options = options_of(secured_broker.filled(blocks_of("aiokafka")[0], mechanism))

    assert asyncio.run(write_and_read_by_aiokafka(options, f"aiokafka-{mechanism}")) == VALUES


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_kafka_python_writes_and_reads(secured_broker: SecuredBroker, mechanism: str) -> None:
    options = options_of(secured_broker.filled(blocks_of("kafka-python")[0], mechanism))

    assert write_and_read_by_kafka_python(options, f"kafka-python-{mechanism}") == VALUES


def test_confluent_kafka_with_a_certificate_writes_and_reads(mutual_tls_broker: SecuredBroker) -> None:
    options = properties_of(mutual_tls_broker.filled(blocks_of("librdkafka")[1]))

    assert write_and_read_by_confluent_kafka(options, "confluent") == VALUES


def test_aiokafka_with_a_certificate_writes_and_reads(mutual_tls_broker: SecuredBroker) -> None:
    options = options_of(mutual_tls_broker.filled(blocks_of("aiokafka")[1]))

    assert asyncio.run(write_and_read_by_aiokafka(options, "aiokafka")) == VALUES


def test_kafka_python_with_a_certificate_writes_and_reads(mutual_tls_broker: SecuredBroker) -> None:
    options = options_of(mutual_tls_broker.filled(blocks_of("kafka-python")[1]))

    assert write_and_read_by_kafka_python(options, "kafka-python") == VALUES


def librdkafka_errors(options: Mapping[str, Any]) -> list[KafkaError]:
    """Return the errors that a producer of one record reports until it gives the record up."""
    errors: list[KafkaError] = []
    producer = Producer({**options, "error_cb": errors.append, "message.timeout.ms": 2000})
    producer.produce("never", b"never")
    producer.flush(STEP_SECONDS_MAX)
    return errors


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_confluent_kafka_reports_a_wrong_password(secured_broker: SecuredBroker, mechanism: str) -> None:
    options = properties_of(secured_broker.filled(blocks_of("librdkafka")[0], mechanism, "wrong"))

    assert KafkaError._AUTHENTICATION in {error.code() for error in librdkafka_errors(options)}


def test_confluent_kafka_without_a_certificate_reports_a_failed_handshake(mutual_tls_broker: SecuredBroker) -> None:
    options = properties_of(mutual_tls_broker.filled(blocks_of("librdkafka")[1]))
    without = {
        key: value for key, value in options.items() if key not in ("ssl.certificate.location", "ssl.key.location")
    }

    assert any("alert certificate required" in error.str() for error in librdkafka_errors(without))


def failed_start(program: str) -> str:
    """Return what a process writes whose producer cannot start; a producer in this process would leave sockets open."""
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=STEP_SECONDS_MAX, check=False)
    assert ended.returncode == 1
    return ended.stderr


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_aiokafka_reports_a_wrong_password(secured_broker: SecuredBroker, mechanism: str) -> None:
    block = secured_broker.filled(blocks_of("aiokafka")[0], mechanism, "wrong")

    written = failed_start(START_AIOKAFKA.format(block=block))

    assert "SaslAuthenticationFailed: Authentication failed" in written
    assert "aiokafka.errors.KafkaConnectionError: " in written


def test_kafka_python_reports_a_wrong_password(secured_broker: SecuredBroker) -> None:
    block = secured_broker.filled(blocks_of("kafka-python")[0], password="wrong")

    reason, written = "SaslAuthenticationFailedError: Authentication failed", ""
    for bootstrap_ms in BOOTSTRAP_MS:
        program = START_KAFKA_PYTHON.format(block=block, bootstrap_ms=bootstrap_ms, backoff_ms_max=BACKOFF_MS_MAX)
        written = failed_start(program)
        if reason in written:
            break

    assert reason in written
    assert "kafka.errors.KafkaTimeoutError: " in written


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_confluent_kafka_authenticates_after_a_rejected_login(secured_broker: SecuredBroker, mechanism: str) -> None:
    options = properties_of(secured_broker.filled(blocks_of("librdkafka")[0], mechanism))
    errors: list[KafkaError] = []
    faults = RemoteBroker(secured_broker.admin).faults
    with faults.rejected_login(principal=f"User:{USER}", mechanism=mechanism) as rule:
        producer = Producer({**options, "error_cb": errors.append})
        producer.produce(f"rejected-{mechanism}", b"v")
        left = producer.flush(STEP_SECONDS_MAX)

        assert (left, rule.hits) == (0, 1)
    assert KafkaError._AUTHENTICATION in {error.code() for error in errors}


def test_aiokafka_reports_a_rejected_login(secured_broker: SecuredBroker) -> None:
    options = options_of(secured_broker.filled(blocks_of("aiokafka")[0], "PLAIN"))

    async def start() -> None:
        producer = aiokafka.AIOKafkaProducer(**options)
        try:
            await producer.start()
        finally:
            await producer.stop()

    with RemoteBroker(secured_broker.admin).faults.rejected_login(principal=f"User:{USER}", times=None) as rule:
        with pytest.raises(aiokafka.errors.KafkaConnectionError):
            asyncio.run(start())
        assert rule.hits > 0
