"""The modules of testcontainers in Java, Go and Node, the examples, and clients/, by the tests of their projects."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from ..image.built_image import ROOT
from ..projects import run_in_project
from .engine import IMAGE, Engine, images_named

pytestmark = [pytest.mark.containers, pytest.mark.timeout(1800)]

PROJECTS = Path(__file__).parent
EXAMPLES = ROOT / "examples" / "testcontainers"
CLIENTS = ROOT / "clients"
SECONDS_MAX = 1500


def run(engine: Engine, folder: Path, *command: str, image: str = IMAGE) -> str:
    """Run a command in a folder with the engine, and return its output; it has to succeed."""
    return run_in_project(folder, {**engine.environment, "FAUXKA_IMAGE": image}, *command, seconds_max=SECONDS_MAX)


def copied(folder: Path, tmp_path: Path) -> Path:
    """Return a copy, in which tools may leave what they make."""
    return shutil.copytree(folder, tmp_path / "project", ignore=shutil.ignore_patterns("target", "node_modules"))


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        pytest.param(PROJECTS / "java", "KafkaModulesTest", id="module"),
        pytest.param(EXAMPLES / "java", "LostAckTest", id="example"),
        pytest.param(CLIENTS / "java", "FauxkaContainerTest", id="client"),
    ],
)
def test_java(engine: Engine, tmp_path: Path, folder: Path, name: str) -> None:
    output = run(engine, copied(folder, tmp_path), "mvn", "--batch-mode", "test")

    # The client's tests without a container are skipped here.
    assert re.search(rf"Tests run: [1-9][0-9]*, Failures: 0, Errors: 0, Skipped: 0, .*\.{name}$", output, re.MULTILINE)


@pytest.mark.parametrize("folder", [PROJECTS / "go", EXAMPLES / "go"], ids=["module", "example"])
def test_go(engine: Engine, tmp_path: Path, folder: Path) -> None:
    assert "ok " in run(engine, copied(folder, tmp_path), "go", "test", "-count=1", "./...")


def test_container_of_the_client_for_go(engine: Engine) -> None:
    output = run(engine, CLIENTS / "go", "go", "test", "-count=1", "-v", "-run", "InAContainer", "./container")

    assert re.findall(r"^--- (\w+): Test", output, re.MULTILINE) == ["PASS", "PASS"]


@pytest.mark.parametrize(
    ("folder", "script"),
    [(PROJECTS / "node", "test"), (EXAMPLES / "node", "test"), (CLIENTS / "typescript", "test:container")],
    ids=["module", "example", "client"],
)
def test_node(engine: Engine, unexposed_image: str, tmp_path: Path, folder: Path, script: str) -> None:
    project = copied(folder, tmp_path)
    run(engine, project, "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")

    with images_named(engine, unexposed_image):
        output = run(engine, project, "npm", "run", script, image=unexposed_image)

    assert "# fail 0" in output
    assert "# pass 0" not in output


def test_python_example(of_engine: Engine) -> None:
    run(of_engine, EXAMPLES / "python", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", ".")
