"""`docker run` of the image: its commands, users, file systems, signals, health and errors."""

import importlib.metadata
import json
import re
import socket
import uuid
from collections.abc import Mapping

import pytest
from confluent_kafka import Consumer, Producer

from ..image.built_image import BASE_IMAGE, ROOT, wait_until
from .engine import IMAGE, Engine

pytestmark = [pytest.mark.containers, pytest.mark.timeout(1200)]

KAFKA_PORT = 9092
# What the image adds to its base at most.
IMAGE_BYTES_MAX = 60_000_000
READY = "Transitioning from RECOVERY to RUNNING"


def is_ready(engine: Engine, name: str) -> bool:
    return READY in engine.log(name)


def round_trip(bootstrap: str, security: Mapping[str, str] | None = None) -> None:
    """Send a record and read it back through a group. security: further configuration of the clients."""
    config = {"bootstrap.servers": bootstrap, **(security or {})}
    producer = Producer(dict(config))
    producer.produce("orders", b"one coffee")
    assert producer.flush(30) == 0
    consumer = Consumer({**config, "group.id": "readers", "auto.offset.reset": "earliest"})
    consumer.subscribe(["orders"])
    message = consumer.poll(30)
    consumer.close()
    assert message is not None
    assert message.value() == b"one coffee"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["--help"], "Usage: fauxka"),
        (["--version"], "fauxka, version 0.1.0, compiled"),
        (["serve", "--help"], "Usage: fauxka serve"),
        (["scenario", "run", "lost-ack"], "All checks passed."),
        (["sh", "-c", "echo from a shell"], "from a shell"),
        (["/bin/echo", "from a path"], "from a path"),
    ],
    ids=["help", "version", "serve", "scenario", "shell", "path"],
)
def test_command_is_one_of_fauxka_or_a_shell(engine: Engine, command: list[str], expected: str) -> None:
    ran = engine.podman("run", "--rm", IMAGE, *command)

    assert ran.exit_code == 0, ran.log
    assert expected in ran.output


def test_cluster_id_of_kafka_storage_has_22_characters(engine: Engine) -> None:
    made = engine.step("run", "--rm", IMAGE, "sh", "-c", "kafka-storage random-uuid")

    assert re.fullmatch(r"[A-Za-z0-9_-]{22}", made)


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--user=12345:0",),
        ("--user=12345:6789",),
        ("--read-only", "--read-only-tmpfs=false"),
        (
            "--read-only",
            "--read-only-tmpfs=false",
            "--volume=VOLUME:/var/lib/fauxka",
            "--env=FAUXKA_DATA_DIR=/var/lib/fauxka",
        ),
        ("--user=12345:0", "--volume=VOLUME:/var/lib/fauxka", "--env=FAUXKA_DATA_DIR=/var/lib/fauxka/data"),
        ("--cap-drop=all", "--security-opt=no-new-privileges"),
    ],
    ids=lambda options: " ".join(options) or "plain",
)
def test_it_serves_with_few_rights(engine: Engine, options: tuple[str, ...]) -> None:
    volume = f"volume-{uuid.uuid4().hex}"
    named = [option.replace("VOLUME", volume) for option in options]
    with engine.running(*named) as broker:
        wait_until(lambda: is_ready(engine, broker))

        health = engine.podman("healthcheck", "run", broker)

        assert health.exit_code == 0, health.log
    engine.podman("volume", "rm", "--force", volume)


def test_data_in_a_volume_outlives_the_container(engine: Engine) -> None:
    volume = f"volume-{uuid.uuid4().hex}"
    options = (f"--volume={volume}:/var/lib/fauxka", "--env=FAUXKA_DATA_DIR=/var/lib/fauxka")
    command = ("--", "serve", "--seed-topic", "orders:3")
    with engine.running(*options, *command) as first:
        wait_until(lambda: is_ready(engine, first))
        engine.step("stop", "--time", "20", first)
    with engine.running(*options) as second:
        wait_until(lambda: is_ready(engine, second))

        listed = engine.step("exec", second, "ls", "/var/lib/fauxka")

    engine.podman("volume", "rm", "--force", volume)
    assert {"orders-0", "orders-1", "orders-2"} <= set(listed.split())


def test_restarted_container_serves_again(engine: Engine) -> None:
    with engine.running() as broker:
        wait_until(lambda: is_ready(engine, broker))

        engine.step("restart", "--time", "20", broker)

        wait_until(lambda: engine.log(broker).count(READY) == 2)
        wait_until(lambda: engine.podman("healthcheck", "run", broker).exit_code == 0)


def test_commands_in_the_container_find_its_broker(engine: Engine) -> None:
    with engine.running() as broker:
        # The admin API opens after clients can connect.
        wait_until(lambda: engine.podman("exec", broker, "fauxka", "admin").exit_code == 0)

        assert engine.step("exec", broker, "fauxka", "fault", "list") == "no fault rules"


def test_health_check_finds_a_listener_on_another_port(engine: Engine) -> None:
    listeners = "--env=KAFKA_LISTENERS=PLAINTEXT://0.0.0.0:29092,BROKER://0.0.0.0:29093"
    protocols = "--env=KAFKA_LISTENER_SECURITY_PROTOCOL_MAP=PLAINTEXT:PLAINTEXT,BROKER:PLAINTEXT"
    with engine.running(listeners, protocols) as broker:
        wait_until(lambda: is_ready(engine, broker))

        health = engine.podman("healthcheck", "run", broker)

        assert health.exit_code == 0, health.log


def test_unknown_kafka_variable_is_one_warning(engine: Engine) -> None:
    with engine.running("--env=KAFKA_NUM_PARTITION=3") as broker:
        wait_until(lambda: is_ready(engine, broker))

        (warning,) = [line for line in engine.log(broker).splitlines() if "KAFKA_NUM_PARTITION" in line]

    told = json.loads(warning)
    assert told["level"] == "warning"
    assert "did you mean KAFKA_NUM_PARTITIONS?" in told["message"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--env=KAFKA_NUM_PARTITIONS=many"], "num.partitions"),
        (["--env=KAFKA_LISTENERS=PLAINTEXT://0.0.0.0:many"], "listener"),
        (["--env=FAUXKA_ADMIN_PORT=99999"], "99999"),
    ],
    ids=["value", "listener", "admin port"],
)
def test_bad_value_is_one_line_and_exit_code_2(engine: Engine, options: list[str], expected: str) -> None:
    ran = engine.podman("run", "--rm", *options, IMAGE)

    assert (ran.exit_code, ran.output) == (2, "")
    assert expected in ran.log.splitlines()[-1]
    assert "Traceback" not in ran.log


def test_port_that_another_container_of_the_pod_has_is_one_line_and_exit_code_2(engine: Engine) -> None:
    with engine.running() as first:
        wait_until(lambda: is_ready(engine, first))

        second = engine.podman("run", "--rm", f"--network=container:{first}", "--env=FAUXKA_ADMIN_PORT=off", IMAGE)

    assert second.exit_code == 2, second.log
    assert "cannot listen on PLAINTEXT://0.0.0.0:9092" in second.log.splitlines()[-1]
    assert "Traceback" not in second.log


def test_it_holds_no_pip_and_nothing_that_compiles(engine: Engine) -> None:
    for program in ("pip", "pip3", "gcc", "make"):
        assert engine.podman("run", "--rm", IMAGE, "sh", "-c", f"command -v {program}").exit_code != 0, program
    for module in ("pip", "ensurepip", "setuptools"):
        assert "No module named" in engine.podman("run", "--rm", IMAGE, "sh", "-c", f"python -m {module}").log


def test_it_holds_what_its_list_says(engine: Engine) -> None:
    listing = "import importlib.metadata as m; print(*{f'{d.name}=={d.version}' for d in m.distributions()})"
    installed = set(engine.step("run", "--rm", IMAGE, "sh", "-c", f'python -c "{listing}"').split())
    locked = engine.step("run", "--rm", IMAGE, "sh", "-c", "cat /opt/fauxka/image.txt")

    named = set(re.findall(r"^(\S+==\S+)", locked, re.MULTILINE))
    names = {re.sub(r"[-_.]+", "-", each).lower() for each in installed}
    assert locked == (ROOT / "requirements/image.txt").read_text().strip()
    assert names == {re.sub(r"[-_.]+", "-", each).lower() for each in named} | {
        f"fauxka=={importlib.metadata.version('fauxka')}".replace(".", "-")
    }


def test_it_adds_little_to_its_base(engine: Engine) -> None:
    added = engine.inspect(IMAGE)["Size"] - engine.inspect(BASE_IMAGE)["Size"]

    assert 0 < added < IMAGE_BYTES_MAX


def test_it_says_what_it_is(engine: Engine) -> None:
    config = json.loads(engine.step("image", "inspect", IMAGE))[0]

    assert config["ManifestType"].startswith("application/vnd.docker")
    assert config["Healthcheck"]["Test"] == ["CMD", "fauxka", "health"]
    labels = {name.removeprefix("org.opencontainers.image."): value for name, value in config["Labels"].items()}
    assert (labels["title"], labels["version"]) == ("fauxka", importlib.metadata.version("fauxka"))
    assert (labels["licenses"], labels["base.name"]) == ("Apache-2.0", BASE_IMAGE)
    assert {"description", "vendor", "revision", "created"} <= labels.keys()
