"""Clients over OAUTHBEARER with tokens of the admin API: librdkafka, Python's clients, and Kafka's tools in Java."""

import asyncio
import importlib
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, Producer

from fauxka.scenarios.clients.login import OAUTHBEARER, Login, librdkafka_config

from ..serving_process import Serving, serving
from .aiokafka_client import aiokafka
from .client import STEP_SECONDS_MAX
from .console_tools import CONSUMER, PRODUCER, STEP_MS_MAX, TOPICS, ConsoleTools
from .java_program import JavaProgram
from .kafka_python_client import kafka

USER, PASSWORD = "alice", "secret"
VALUES = [b"a", b"b", b"c"]
CONFIG = {"sasl.enabled.mechanisms": "OAUTHBEARER", "group.initial.rebalance.delay.ms": "0"}
aiokafka_abc = importlib.import_module("aiokafka.abc")
kafka_python_oauth = importlib.import_module("kafka.net.sasl.oauth")


def options_of(protocol: str) -> list[str]:
    config = [text for key, value in CONFIG.items() for text in ("-c", f"{key}={value}")]
    # The token endpoint has credentials of its own.
    admin = ["--admin-port", "0", "--admin-token", "of-the-admin"]
    return ["--listener", protocol, "--port", "0", "--user", f"{USER}:{PASSWORD}", *admin, *config]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("oauth")


@pytest.fixture(scope="module")
def broker(folder: Path) -> Iterator[Serving]:
    with serving(folder, *options_of("SASL_SSL"), "--tls-dir", str(folder)) as running:
        yield running


def token_of(broker: Serving) -> str:
    return Login(OAUTHBEARER, USER, PASSWORD, f"{broker.admin}/oauth/token").fetch_token()


def librdkafka_options(broker: Serving, folder: Path, secret: str = PASSWORD, query: str = "") -> dict[str, Any]:
    return {
        **librdkafka_config(Login(OAUTHBEARER, USER, secret, f"{broker.admin}/oauth/token{query}")),
        "bootstrap.servers": broker.bootstrap,
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": str(folder / "ca.pem"),
        "sasl.oauthbearer.scope": "kafka",
    }


@pytest.mark.clients
@pytest.mark.parametrize("query", ["", "?lifetime_ms=3000"])
def test_confluent_kafka_gets_its_token_writes_and_reads(broker: Serving, folder: Path, query: str) -> None:
    options, topic = librdkafka_options(broker, folder, query=query), f"confluent-{len(query)}"
    producer = Producer(dict(options))
    for value in VALUES:
        producer.produce(topic, value)
        # A token of three seconds is refreshed between two records.
        assert producer.flush(STEP_SECONDS_MAX) == 0
        if query:
            producer.poll(1.5)

    consumer = Consumer({**options, "group.id": topic, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    messages = consumer.consume(len(VALUES), STEP_SECONDS_MAX)
    consumer.close()

    assert [message.value() for message in messages] == VALUES


@pytest.mark.clients
def test_confluent_kafka_with_a_wrong_secret_gets_no_token(broker: Serving, folder: Path) -> None:
    errors: list[KafkaError] = []
    options = {**librdkafka_options(broker, folder, "wrong"), "error_cb": errors.append}
    producer = Producer({**options, "message.timeout.ms": 3000})
    producer.produce("never", b"never")
    producer.flush(STEP_SECONDS_MAX)

    texts = [error.str() for error in errors if error.code() == KafkaError._AUTHENTICATION]
    assert any("invalid_client" in text or "401" in text for text in texts), texts


@pytest.mark.clients
def test_aiokafka_writes_and_reads(broker: Serving, folder: Path) -> None:
    class Provider(aiokafka_abc.AbstractTokenProvider):  # type: ignore[misc, name-defined]
        async def token(self) -> str:
            return await asyncio.to_thread(token_of, broker)

    async def write_and_read() -> list[bytes | None]:
        options = {
            "bootstrap_servers": broker.bootstrap,
            "security_protocol": "SASL_SSL",
            "ssl_context": ssl.create_default_context(cafile=folder / "ca.pem"),
            "sasl_mechanism": "OAUTHBEARER",
            "sasl_oauth_token_provider": Provider(),
        }
        async with aiokafka.AIOKafkaProducer(**options) as producer:
            for value in VALUES:
                await producer.send_and_wait("aiokafka", value)
        async with aiokafka.AIOKafkaConsumer("aiokafka", auto_offset_reset="earliest", **options) as consumer:
            return [(await asyncio.wait_for(consumer.getone(), STEP_SECONDS_MAX)).value for _ in VALUES]

    assert asyncio.run(write_and_read()) == VALUES


@pytest.mark.clients
def test_kafka_python_writes_and_reads(broker: Serving, folder: Path) -> None:
    class Provider(kafka_python_oauth.AbstractTokenProvider):  # type: ignore[misc, name-defined]
        def token(self) -> str:
            return token_of(broker)

    options = {
        "bootstrap_servers": broker.bootstrap,
        "security_protocol": "SASL_SSL",
        "ssl_cafile": str(folder / "ca.pem"),
        "sasl_mechanism": "OAUTHBEARER",
        "sasl_oauth_token_provider": Provider(),
    }
    producer = kafka.KafkaProducer(**options)
    for value in VALUES:
        producer.send("kafka-python", value).get(STEP_SECONDS_MAX)
    producer.close()

    consumer = kafka.KafkaConsumer("kafka-python", auto_offset_reset="earliest", **options)
    values = [next(consumer).value for _ in VALUES]
    consumer.close()

    assert values == VALUES


def java_properties(broker: Serving, **options: str) -> str:
    properties = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;",
        "sasl.login.callback.handler.class": (
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
        ),
        "sasl.oauthbearer.token.endpoint.url": f"{broker.admin}/oauth/token",
        "sasl.oauthbearer.client.credentials.client.id": USER,
        "sasl.oauthbearer.client.credentials.client.secret": PASSWORD,
        **options,
    }
    return "".join(f"{key}={value}\n" for key, value in properties.items())


@pytest.mark.java
def test_java_gets_its_token_writes_and_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(tmp_path, *options_of("SASL_PLAINTEXT")) as broker:
        config = tmp_path / "client.properties"
        config.write_text(java_properties(broker))
        allowed = f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={broker.admin}/oauth/token"
        monkeypatch.setenv("JAVA_TOOL_OPTIONS", allowed)
        program = JavaProgram("ToolRunner")
        try:
            tools = ConsoleTools(program, broker.bootstrap)
            command = ("--command-config", str(config))
            tools.output_of(TOPICS, *command, "--create", "--topic", "java")
            tools.output_of(PRODUCER, *command, "--topic", "java", lines=["a", "b", "c"])
            read = ["--topic", "java", "--from-beginning", "--max-messages", "3", "--timeout-ms", STEP_MS_MAX]
            output = tools.output_of(CONSUMER, *command, *read)
        finally:
            program.close()

    assert output.split() == ["a", "b", "c"]
