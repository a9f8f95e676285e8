"""tools/release: the tags of the image, its build arguments, and its start before it is pushed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tools.release.builds import Source
from tools.release.image_push import CHECKED, PLATFORMS, load_command, push_commands, push_image
from tools.release.image_tags import image_tags
from tools.release.steps import ROOT, StepError

SOURCE = Source(ROOT, "09908db63ef77a9585e78490674acdd99847c82d", 1_796_040_450, "0.1.0")


def test_image_has_tags_of_fauxka_and_one_for_each_release_of_kafka() -> None:
    tags = image_tags("0.1.2", [(2, 8), (3, 7), (4, 4)])

    assert tags == {"": ["0.1.2", "0.1", "latest"], "4.4": ["4.4"], "3.7": ["3.7"]}


def test_tag_of_fauxka_that_is_a_release_of_kafka_is_an_error() -> None:
    with pytest.raises(StepError, match=r"4\.3 of fauxka 4\.3\.0"):
        image_tags("4.3.0")


def test_pushed_images_differ_in_their_tags_and_the_release_of_kafka() -> None:
    commands = [" ".join(command) for command in push_commands(SOURCE, "registry/Owner/fauxka")]

    assert "--tag=registry/owner/fauxka:latest" in commands[0]
    assert "--build-arg=AS_VERSION= " in commands[0]
    assert "--build-arg=AS_VERSION=4.3 --tag=registry/owner/fauxka:4.3 ." in commands[2]
    assert all("--platform linux/amd64,linux/arm64" in command for command in commands)


def test_image_is_loaded_for_one_processor_and_not_pushed() -> None:
    command = " ".join(load_command(SOURCE, "linux/arm64"))

    assert "--load --platform linux/arm64 " in command
    assert "--push" not in command
    assert f"--tag={CHECKED} " in command


# What Docker prints when an image works: `docker exec` fails first, as it does before the broker is ready.
FAKE_DOCKER = """#!{python}
import os, pathlib, sys
words = sys.argv[1:]
folder = pathlib.Path({folder!r})
with (folder / "log").open("a") as log:
    print(*words, file=log)
if words[0] == "exec" and not (folder / "ready").exists():
    (folder / "ready").touch()
    sys.exit("not yet")
if words[0] == "run":
    print("fauxka, version 0.1.0, " + {how!r} if words[-1] == "--version" else "assert_exactly_once()")
if words[0] == "inspect":
    print(0)
"""


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program `docker` that writes its arguments into the file `log`."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("tools.release.image_start.expect_followed", accept_any)
    write_docker(tmp_path, "compiled")
    return tmp_path


def accept_any(image: str, port: int, release: str) -> None:
    """No broker is there to be asked."""


def write_docker(folder: Path, how: str) -> None:
    program = folder / "docker"
    program.write_text(FAKE_DOCKER.format(python=sys.executable, folder=str(folder), how=how))
    program.chmod(0o755)


def test_image_is_started_on_each_processor_before_it_is_pushed(docker: Path) -> None:
    push_image(SOURCE, "registry/fauxka")

    log = (docker / "log").read_text().splitlines()
    pushes = [at for at, line in enumerate(log) if "--push" in line]
    starts = [line.split()[2] for line in log[: pushes[0]] if line.startswith("run --detach")]
    assert starts == [f"--platform={platform}" for platform in PLATFORMS]
    assert [line.split()[0] for line in log[pushes[0] :]] == ["buildx"] * len(pushes)
    assert len(pushes) == len(push_commands(SOURCE, "registry/fauxka"))


def test_image_that_fails_its_check_is_not_pushed(docker: Path) -> None:
    write_docker(docker, "plain Python")

    with pytest.raises(StepError, match=r"--version of fauxka-release-check for linux/amd64: .*plain Python"):
        push_image(SOURCE, "registry/fauxka")

    assert "--push" not in (docker / "log").read_text()


def test_arguments_of_the_image_are_those_of_the_dockerfile() -> None:
    declared = {line.removeprefix("ARG ").partition("=")[0] for line in (ROOT / "Dockerfile").read_text().splitlines()}
    given = {word.split("=")[1] for command in push_commands(SOURCE, "r") for word in command if "--build-arg" in word}

    assert given == {"VERSION", "REVISION", "CREATED", "AS_VERSION"}
    assert given <= declared
