"""The image: what it says of itself, and how its entry point starts, answers and stops as process 1."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from .built_image import BuiltImage, Running, built_image, is_root, running, storage_folder, wait_until

pytestmark = [pytest.mark.image, pytest.mark.timeout(1200)]

KAFKA_PORT = 9092
ADMIN_PORT = 9099


@pytest.fixture(scope="module")
def image() -> Iterator[BuiltImage]:
    if not is_root():
        pytest.skip("needs root, for chroot and namespaces")
    with storage_folder("image") as folder, built_image(folder) as image:
        yield image


@pytest.fixture
def container(image: BuiltImage) -> Iterator[Running]:
    with running(image, {"KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://broker.example:9092"}) as started:
        yield started


def is_healthy(container: Running) -> bool:
    return container.run(health_command(container)).returncode == 0


def health_command(container: Running) -> list[str]:
    kind, *command = container.image.config["Healthcheck"]["Test"]
    assert kind == "CMD", "a health check in a shell would need a shell"
    return command


def test_it_runs_as_a_user_without_rights(image: BuiltImage) -> None:
    assert image.config["User"] == "appuser"
    assert "--userspec=1000:0" in image.command([])


def test_it_may_write_to_its_working_folder(container: Running) -> None:
    assert container.image.config["WorkingDir"] == "/var/lib/fauxka"
    assert container.run(["mkdir", "exports"]).returncode == 0
    assert (container.image.file_system / "var/lib/fauxka/exports").is_dir()


def test_it_holds_compiled_modules(container: Running) -> None:
    assert container.run(["fauxka", "--version"]).stdout == "fauxka, version 0.1.0, compiled\n"


def test_its_groups_start_at_once(image: BuiltImage) -> None:
    assert "KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS=0" in image.config["Env"]


def test_it_exposes_the_ports_of_kafka_and_of_the_admin_api(image: BuiltImage) -> None:
    assert image.config["ExposedPorts"].keys() == {"9092/tcp", "9099/tcp"}


def test_it_is_labelled_as_oci_images_are(image: BuiltImage) -> None:
    prefix = "org.opencontainers.image."
    labels = {name.removeprefix(prefix): text for name, text in image.config["Labels"].items() if prefix in name}

    of_the_build = {"revision", "created", "base.name"}
    assert labels.keys() == {"title", "description", "version", "licenses", "vendor"} | of_the_build
    assert labels["version"] == "0.1.0"


def test_it_holds_no_sources_and_nothing_that_builds(image: BuiltImage) -> None:
    assert not (image.file_system / "build").exists()
    assert list(image.file_system.glob("usr/local/lib/python3*/dist-packages/build")) == []


def test_its_health_check_passes_when_clients_can_connect(container: Running) -> None:
    wait_until(lambda: container.has_open_port(KAFKA_PORT))

    assert is_healthy(container)


def test_its_admin_api_is_open_and_says_so(container: Running) -> None:
    wait_until(lambda: container.has_open_port(ADMIN_PORT))

    os.kill(container.pid, signal.SIGTERM)
    _, log = container.unshare.communicate(timeout=20)

    assert "needs no token, and other machines can reach it" in log


def test_its_log_has_the_words_that_tools_wait_for(container: Running) -> None:
    wait_until(lambda: container.has_open_port(ADMIN_PORT))

    os.kill(container.pid, signal.SIGTERM)
    _, log = container.unshare.communicate(timeout=20)

    assert "[KafkaServer id=1] started: Kafka Server started, Transitioning from RECOVERY to RUNNING" in log


def test_its_health_check_fails_where_nothing_listens(container: Running) -> None:
    wait_until(lambda: container.has_open_port(KAFKA_PORT))
    port_of_nobody = [*health_command(container), "--port", "1"]

    result = container.run(port_of_nobody)

    assert result.returncode == 1
    assert "refused" in result.stderr


def test_it_is_process_1_and_has_no_rights(container: Running) -> None:
    status = dict(line.split(":\t", 1) for line in Path(f"/proc/{container.pid}/status").read_text().splitlines())

    assert status["NSpid"].split()[-1] == "1"
    assert status["Uid"].split() == ["1000"] * 4
    assert int(status["CapEff"], 16) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_with_exit_code_0(container: Running, number: signal.Signals) -> None:
    wait_until(lambda: container.has_open_port(KAFKA_PORT))

    os.kill(container.pid, number)
    output, log = container.unshare.communicate(timeout=20)

    assert container.unshare.returncode == 0
    assert output == "PLAINTEXT://broker.example:9092\nhttp://localhost:9099\n"
    assert f"received {number.name}" in log
