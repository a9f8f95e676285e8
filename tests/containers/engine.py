"""A container engine of its own for the tests: podman with runc, its storage in a folder, and Docker's API on a socket.

The base image is the Debian of tests/image. Without systemd podman runs no health checks by itself;
`Engine.health_checks` does.
"""

import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ..image.built_image import BASE_IMAGE, ROOT, STEP_SECONDS_MAX, make_base_image, storage, wait_until
from ..serving_process import Ended

IMAGE = "localhost/fauxka:8.3.0"
# What podman says of health checks on a machine without systemd.
NOISE = re.compile(r'^time="[^\n]*systemd[^\n]*\n', re.MULTILINE)
# The names of the images that the modules of testcontainers start by default, and the versions at which they differ.
KAFKA_IMAGES = (
    "docker.io/apache/kafka:4.3.0",
    "docker.io/apache/kafka-native:4.3.0",
    *(f"docker.io/confluentinc/cp-kafka:{tag}" for tag in ("5.4.3", "7.2.0", "7.6.0", "8.0.0")),
    "docker.io/confluentinc/confluent-local:7.5.0",
)
# podman 4 reports each port that the image exposes as published, and testcontainers-node would wait for all of them. So
# its tests run the image without the line EXPOSE.
UNEXPOSED = "localhost/unexposed:8.3.0"
# The name in examples/compose.yaml, as Docker's API completes it.
COMPOSED = "docker.io/library/fauxka:0.1.0"
SETTINGS = """
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
"""
COMMAND_SECONDS_MAX = 120
HEALTH_CHECK_SECONDS = 0.5


@dataclass(frozen=True)
class Engine:
    """A running engine. environment: what leads Docker's clients and testcontainers to it."""

    folder: Path
    environment: Mapping[str, str]

    def podman(self, *arguments: str, seconds_max: float = COMMAND_SECONDS_MAX) -> Ended:
        """Run podman, whatever its exit code."""
        command = ["podman", *storage(self.folder), *arguments]
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds_max, check=False, env={**self.environment}
        )
        return Ended(ended.returncode, ended.stdout, NOISE.sub("", ended.stderr))

    def step(self, *arguments: str, seconds_max: float = COMMAND_SECONDS_MAX) -> str:
        """Run podman, which has to succeed, and return its output."""
        ran = self.podman(*arguments, seconds_max=seconds_max)
        assert ran.exit_code == 0, f"podman {' '.join(arguments)}:\n{ran.output[-3000:]}{ran.log[-3000:]}"
        return ran.output.strip()

    def inspect(self, name: str) -> dict[str, Any]:
        """Return what the engine says of a container or an image."""
        return cast("dict[str, Any]", json.loads(self.step("inspect", name))[0])

    def log(self, name: str) -> str:
        """Return what a container has written."""
        ran = self.podman("logs", name)
        return ran.output + ran.log

    @contextmanager
    def running(self, *arguments: str, image: str = IMAGE) -> Generator[str, None, None]:
        """Run a container in the background for the length of the block, and return its id.

        arguments: options of podman; after a "--", the command.
        """
        options, command = split_at_dashes(arguments)
        name = self.step("run", "--detach", *options, image, *command)
        try:
            yield name
        finally:
            self.podman("rm", "--force", "--time", "0", name)

    @contextmanager
    def health_checks(self) -> Generator[None, None, None]:
        """Run the health checks of all containers again and again for the length of the block."""
        is_over = threading.Event()

        def check() -> None:
            while not is_over.wait(HEALTH_CHECK_SECONDS):
                for name in self.podman("ps", "--quiet").output.split():
                    self.podman("healthcheck", "run", name)

        thread = threading.Thread(target=check)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()

    def build(self, folder: Path, *options: str) -> None:
        """Build an image on the base image of the tests, as podman build does from a folder."""
        mounts = ["--volume", "/etc/pip.conf:/etc/pip.conf:ro"] if Path("/etc/pip.conf").exists() else []
        base = ("--build-arg", f"PYTHON_IMAGE={BASE_IMAGE}")
        fixed = ("--quiet", "--format", "docker", "--network", "host", *mounts, *base)
        self.step("build", *fixed, *options, str(folder), seconds_max=STEP_SECONDS_MAX)


def split_at_dashes(arguments: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what stands before and after the first "--"."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:at], arguments[at + 1 :]


@contextmanager
def running_engine(folder: Path) -> Generator[Engine, None, None]:
    """Start the engine, build the image, and give it the names of Kafka's images, for the length of the block."""
    settings, socket = folder / "containers.conf", folder / "engine.sock"
    settings.write_text(SETTINGS)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("KAFKA_", "FAUXKA_"))},
        "CONTAINERS_CONF": str(settings),
        "DOCKER_HOST": f"unix://{socket}",
        # The image of testcontainers that cleans up is in no registry here.
        "TESTCONTAINERS_RYUK_DISABLED": "true",
        "TESTCONTAINERS_HOST_OVERRIDE": "127.0.0.1",
        "TESTCONTAINERS_CONNECTION_MODE": "docker_host",
    }
    engine = Engine(folder, environment)
    make_base_image(("buildah", *storage(folder)))
    build_image(engine)
    with (folder / "engine.log").open("w") as log:
        service = subprocess.Popen(
            ["podman", *storage(folder), "system", "service", "--time=0", f"unix://{socket}"],
            env={**environment},
            stdout=log,
            stderr=log,
        )
    try:
        wait_until(socket.exists)
        yield engine
    finally:
        engine.podman("rm", "--all", "--force", "--time", "0")
        service.send_signal(signal.SIGTERM)
        service.wait()


def build_image(engine: Engine) -> None:
    """Build the image, and give it all of its names."""
    engine.build(ROOT, "--tag", IMAGE)
    engine.step("tag", IMAGE, "localhost/fauxka:0.1.0", "localhost/fauxka:latest", COMPOSED, *KAFKA_IMAGES)


def build_unexposed_image(engine: Engine) -> None:
    """Build the image without EXPOSE."""
    dockerfile = engine.folder / "Dockerfile"
    lines = (ROOT / "Dockerfile").read_text().splitlines(keepends=True)
    dockerfile.write_text("".join(line for line in lines if not line.startswith("EXPOSE")))
    engine.build(ROOT, "--file", str(dockerfile), "--tag", UNEXPOSED)


@contextmanager
def images_named(engine: Engine, image: str) -> Generator[None, None, None]:
    """Give the names of Kafka's images to another image for the length of the block."""
    engine.step("tag", image, *KAFKA_IMAGES)
    try:
        yield
    finally:
        engine.step("tag", IMAGE, *KAFKA_IMAGES)
