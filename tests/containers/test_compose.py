"""Compose files: the example, those written for Kafka's images, and the commands that their health checks call."""

import os
import re
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fauxka.testing.remote_broker import RemoteBroker

from ..broker.compose_environments import ENVIRONMENTS, ComposeEnvironment
from ..image.built_image import ROOT, wait_until
from ..serving_process import Ended
from .engine import Engine
from .test_docker_run import free_port, is_ready, round_trip

pytestmark = [pytest.mark.containers, pytest.mark.timeout(1200)]

EXAMPLES = ROOT / "examples"
SECONDS_MAX = 300
TOPICS_COMMANDS = ("kafka-topics", "kafka-topics.sh", "/bin/kafka-topics", "/opt/kafka/bin/kafka-topics.sh")


class Composed:
    """The services of a compose file, in the engine."""

    def __init__(self, engine: Engine, file: Path, variables: dict[str, str]) -> None:
        self._command = ["docker-compose", "--file", str(file)]
        self._environment = {**engine.environment, **variables}

    def run(self, *arguments: str) -> Ended:
        """Run docker-compose, whatever its exit code."""
        ended = subprocess.run(
            [*self._command, *arguments],
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
            env=self._environment,
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr)


@contextmanager
def composed(engine: Engine, file: Path, **variables: str) -> Generator[Composed, None, None]:
    """Start the services of a file for the length of the block, in the order that the file asks for."""
    services = Composed(engine, file, {"COMPOSE_PROJECT_NAME": f"p{os.getpid()}", **variables})
    with engine.health_checks():
        try:
            up = services.run("up", "--no-build", "--detach")
            assert up.exit_code == 0, up.output + up.log
            yield services
        finally:
            services.run("down", "--timeout", "5")


@pytest.fixture(scope="module")
def example_images(engine: Engine) -> None:
    engine.build(EXAMPLES / "compose/producer", "--tag", "docker.io/library/orders-producer")
    engine.build(EXAMPLES / "compose/spark", "--tag", "docker.io/library/orders-count")


@pytest.mark.usefixtures("example_images")
@pytest.mark.parametrize(("idempotence", "duplicates"), [("false", 1), ("true", 0)])
def test_spark_job_of_the_example_counts_what_the_producer_sent(
    engine: Engine, idempotence: str, duplicates: int
) -> None:
    kafka_port, admin_port = str(free_port()), str(free_port())
    variables = {"KAFKA_PORT": kafka_port, "ADMIN_PORT": admin_port, "ENABLE_IDEMPOTENCE": idempotence}
    with composed(engine, EXAMPLES / "compose.yaml", **variables) as services:
        counted = services.run("logs", "--no-color", "--follow", "count")
        verdict = services.run("exec", "-T", "broker", "fauxka", "verdict", "orders")
        seen = services.run("logs", "--no-color", "producer")

    assert f"100 orders, {duplicates} appended twice" in counted.output
    assert f"appended twice {duplicates}, " in verdict.output
    assert "sent 100 orders" in seen.output


def test_secured_example_serves_a_user_with_an_acl_over_sasl_ssl(engine: Engine, tmp_path: Path) -> None:
    kafka_port, admin_port = str(free_port()), str(free_port())
    file = EXAMPLES / "compose-secured.yaml"
    with composed(engine, file, KAFKA_PORT=kafka_port, ADMIN_PORT=admin_port) as services:
        created = services.run("logs", "--no-color", "--follow", "topics")
        authority = services.run("exec", "-T", "broker", "cat", "/tmp/certificates/ca.pem")
        (tmp_path / "ca.pem").write_text(authority.output)
        allow_alice(admin_port)
        security = {
            "security.protocol": "SASL_SSL",
            "ssl.ca.location": str(tmp_path / "ca.pem"),
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.username": "alice",
            "sasl.password": "secret",
        }

        round_trip(f"localhost:{kafka_port}", security)

    assert "Created topic orders." in created.output


def allow_alice(admin_port: str) -> None:
    """Allow the user of the example what a producer and a consumer of a group need."""
    broker = RemoteBroker(f"http://127.0.0.1:{admin_port}")
    for resource_type, name, operation in (
        ("TOPIC", "orders", "WRITE"),
        ("TOPIC", "orders", "READ"),
        ("GROUP", "readers", "READ"),
    ):
        acl = {"principal": "User:alice", "operation": operation, "resource_type": resource_type, "name": name}
        broker.call("POST", "/v1/acls", acl)


def test_compose_file_for_kafka_with_a_health_check_and_a_container_that_creates_topics(engine: Engine) -> None:
    kafka_port = free_port()
    file = Path(__file__).with_name("compose") / "kafka.yaml"
    with composed(engine, file, KAFKA_PORT=str(kafka_port)) as services:
        listed = services.run("exec", "-T", "kafka", "kafka-topics.sh", "--bootstrap-server", "kafka:29092", "--list")
        created = services.run("logs", "--no-color", "init")
        described = services.run("logs", "--no-color", "--follow", "describe")
        round_trip(f"localhost:{kafka_port}")

    assert listed.output.split() == ["orders", "payments"]
    assert created.output.count("Created topic") == 2
    assert "PartitionCount: 3" in described.output


@pytest.mark.parametrize("service", ENVIRONMENTS, ids=lambda service: service.name)
def test_services_of_public_compose_files_become_healthy(engine: Engine, service: ComposeEnvironment) -> None:
    variables = [f"--env={name}={value}" for name, value in service.environment.items()]
    with engine.running(f"--hostname={service.hostname}", *variables) as broker:
        wait_until(lambda: is_ready(engine, broker))

        health = engine.podman("healthcheck", "run", broker)

        assert health.exit_code == 0, health.log


@pytest.mark.parametrize("command", TOPICS_COMMANDS)
def test_topics_command_has_the_names_of_both_images(engine: Engine, command: str) -> None:
    with engine.running() as broker:
        wait_until(lambda: is_ready(engine, broker))

        engine.step("exec", broker, command, "--bootstrap-server", "localhost:9092", "--create", "--topic", "orders")

        assert engine.step("exec", broker, command, "--bootstrap-server=localhost:9092", "--list") == "orders"


@pytest.mark.parametrize(
    ("command", "exit_code"),
    [
        ("nc -z localhost 9092", 0),
        ("nc -vz -w 3 localhost 9092", 0),
        ("nc -z localhost 9091", 1),
        ("nc localhost 9092", 2),
        ("cub kafka-ready -b localhost:9092 1 20", 0),
        ("cub kafka-ready -b localhost:9091 1 1", 1),
        ("cub zk-ready localhost:2181 20", 2),
        ("kafka-broker-api-versions --bootstrap-server localhost:9092", 0),
        ("kafka-broker-api-versions.sh --bootstrap-server=localhost:9091", 1),
        ("/opt/kafka/bin/kafka-broker-api-versions.sh --bootstrap-server localhost:9092,other:9092", 0),
        ("timeout 1 bash -c '</dev/tcp/localhost/9092'", 0),
    ],
)
def test_commands_of_health_checks(engine: Engine, command: str, exit_code: int) -> None:
    with engine.running() as broker:
        wait_until(lambda: is_ready(engine, broker))

        ran = engine.podman("exec", broker, "sh", "-c", command)

    assert ran.exit_code == exit_code, ran.output + ran.log
    assert not re.search("Traceback", ran.log)
