"""The image, started in Docker before it is pushed, and what its check in podman (image_check.py) shares with that."""

from __future__ import annotations

import json
import socket
import time
from urllib.request import urlopen

from .installed_checks import expect_demo
from .steps import StepError, expect, run_step

ADMIN_PORT = 9099
# The other processor is emulated.
START_SECONDS_MAX = 180
STOP_SECONDS_MAX = 60
POLL_SECONDS = 0.5


def check_in_docker(image: str, platform: str, version: str, release: str) -> None:
    """Run the commands of an image, and its broker. platform: such as linux/arm64. release: the expected one of Kafka.

    Raises StepError if a command fails or if the broker does not get healthy, follows another release, or ends with
    another exit code than 0.
    """
    once = ("run", "--rm", "--read-only", f"--platform={platform}", image)
    output = _docker(*once, "--version")
    expect(output == f"fauxka, version {version}, compiled\n", f"--version of {image} for {platform}: {output}")
    expect_demo(_docker(*once, "demo"))
    port = free_port()
    publish = f"--publish=127.0.0.1:{port}:{ADMIN_PORT}"
    container = _docker("run", "--detach", f"--platform={platform}", publish, image).strip()
    try:
        _wait_until_healthy(container)
        expect_followed(image, port, release)
        _docker("stop", "-t", str(STOP_SECONDS_MAX), container)
        ended = _docker("inspect", "--format={{.State.ExitCode}}", container).strip()
        expect(ended == "0", f"{image} for {platform} ended with {ended}")
    finally:
        _docker("rm", "--force", container)


def expect_followed(image: str, port: int, release: str) -> None:
    """Raise StepError if a broker's only node follows another release of Kafka. port: the one of its admin API."""
    with urlopen(f"http://127.0.0.1:{port}/v1/nodes", timeout=START_SECONDS_MAX) as response:
        nodes = json.load(response)
    followed = [node["as_version"] for node in nodes["items"]]
    expect(followed == [release], f"{image} follows Kafka {followed}, expected {release}")


def free_port() -> int:
    """Return a port of the loopback address that was free."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _wait_until_healthy(container: str) -> None:
    """Run the health check until it passes. The time limits of Docker's own runs are too short for an emulated one."""
    deadline = time.monotonic() + START_SECONDS_MAX
    while True:
        try:
            _docker("exec", container, "fauxka", "health")
        except StepError as error:
            if time.monotonic() > deadline:
                raise StepError(f"{error}\n{_docker('logs', container)}") from error
            time.sleep(POLL_SECONDS)
        else:
            return


def _docker(*arguments: str) -> str:
    return run_step("docker", *arguments)
