"""The image, built as the group `containers` of the tests builds it, in podman with a storage of its own, and run.

The base image is a Debian made by debootstrap, so that no registry of images is needed. The engine needs root.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

from tests.containers.engine import SETTINGS, Engine
from tests.image.built_image import make_base_image, storage, storage_folder

from .builds import Source
from .components import LIST_DEBIAN, LIST_PACKAGES, Component, components_of_debian, components_of_python
from .image_push import build_arguments
from .image_start import ADMIN_PORT, expect_followed, free_port
from .image_tags import image_tags
from .installed_checks import expect_demo, run_check
from .steps import environment, expect
from .table import Row

PROGRAMS = ("podman", "runc", "buildah", "debootstrap")
READY = "Transitioning from RECOVERY to RUNNING"
START_SECONDS_MAX = 60
POLL_SECONDS = 0.02
NAME = "localhost/fauxka"


def why_not_here() -> str | None:
    """Return why this machine cannot build the image; None if it can."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        return f"no {', '.join(missing)}"
    return None if os.geteuid() == 0 else "a container engine of its own needs root"


def check_image(source: Source) -> tuple[list[Row], list[Component]]:
    """Build the image with its tags, and return a row for each build, and what is in the first one.

    The others have the same layers, and are tested for the release of Kafka that they follow.
    """
    tags = image_tags(source.version)
    newest = list(tags)[1]
    with storage_folder("release") as folder:
        engine = _engine(folder)
        make_base_image(("buildah", *storage(folder)))
        rows = [_check_tag(engine, source, release, newest, names) for release, names in tags.items()]
        run_check(rows[0], "commands", lambda: _check_commands(engine, source))
        components = [] if rows[0].failed else list_components(engine, f"{NAME}:{source.version}")
    return rows, components


def _check_tag(engine: Engine, source: Source, release: str, newest: str, names: list[str]) -> Row:
    """Build the image with the tags of one AS_VERSION, run it, and return its row."""
    image = f"{NAME}:{names[0]}"
    row = Row(f"image {', '.join(names)} (linux/amd64)")
    run_check(row, "build", lambda: _build(engine, source, release, names))
    if not row.failed:
        row.bytes = int(engine.inspect(image)["Size"])
        run_check(row, "run", lambda: _check_run(engine, image, release or newest, row))
    return row


def _engine(folder: Path) -> Engine:
    settings = folder / "containers.conf"
    settings.write_text(SETTINGS)
    return Engine(folder, environment({"CONTAINERS_CONF": str(settings)}))


def _build(engine: Engine, source: Source, release: str, names: list[str]) -> None:
    options = [f"--build-arg={name}={value}" for name, value in build_arguments(source, release).items()]
    engine.build(source.folder, "--layers", *options, *(f"--tag={NAME}:{name}" for name in names))


def _check_run(engine: Engine, image: str, release: str, row: Row) -> None:
    """The image starts, is healthy, follows the release, and ends with exit code 0 by SIGTERM."""
    port = free_port()
    started = time.perf_counter()
    with engine.running(f"--publish=127.0.0.1:{port}:{ADMIN_PORT}", image=image) as container:
        deadline = time.monotonic() + START_SECONDS_MAX
        while READY not in engine.log(container):
            expect(time.monotonic() < deadline, f"{image} is not ready: {engine.log(container)}")
            time.sleep(POLL_SECONDS)
        row.start_seconds = time.perf_counter() - started
        expect(engine.podman("healthcheck", "run", container).exit_code == 0, f"{image} is not healthy")
        expect_followed(image, port, release)
        engine.podman("stop", "--time", "20", container)
        ended = engine.inspect(container)["State"]["ExitCode"]
        expect(ended == 0, f"{image} ended with {ended}")


def _check_commands(engine: Engine, source: Source) -> None:
    """`--version` and `demo` as commands of the image, with a root file system that cannot be written."""
    for command in ("--version", "demo"):
        ran = engine.podman("run", "--rm", "--read-only", f"{NAME}:{source.version}", command)
        expect(ran.exit_code == 0, f"{command} in the image: {ran.log}")
        if command == "demo":
            expect_demo(ran.output)
        else:
            expect(ran.output == f"fauxka, version {source.version}, compiled\n", f"--version: {ran.output}")


def list_components(engine: Engine, image: str) -> list[Component]:
    """Return the packages of Python and of Debian in an image."""

    def output(*command: str) -> str:
        ran = engine.podman("run", "--rm", f"--entrypoint={json.dumps(command[:1])}", image, *command[1:])
        expect(ran.exit_code == 0, f"{command[0]} in the image: {ran.log}")
        return ran.output

    return [*components_of_python(output("python", "-c", LIST_PACKAGES)), *components_of_debian(output(*LIST_DEBIAN))]
