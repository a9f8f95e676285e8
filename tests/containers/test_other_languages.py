"""The modules of testcontainers in Java, Go and Node, with the tests of their own projects; examples and clients."""

import shutil
import sys
from pathlib import Path

import pytest

from ..image.built_image import ROOT
from ..projects import run_in_project
from .engine import IMAGE, UNEXPOSED, Engine, images_named

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
    return shutil.copytree(folder, tmp_path / "project", ignore=shutil.ignore_patterns("node_modules"))


@pytest.mark.parametrize("folder", [PROJECTS / "java", EXAMPLES / "java"], ids=["module", "example"])
def test_java(engine: Engine, tmp_path: Path, folder: Path) -> None:
    output = run(engine, copied(folder, tmp_path), "mvn", "--batch-mode", "--quiet", "test")

    assert "Tests run: 0" not in output


@pytest.mark.parametrize("folder", [PROJECTS / "go", EXAMPLES / "go"], ids=["module", "example"])
def test_go(engine: Engine, tmp_path: Path, folder: Path) -> None:
    assert "ok " in run(engine, copied(folder, tmp_path), "go", "test", "-count=1", "./...")


@pytest.mark.parametrize(
    ("folder", "script"),
    [(PROJECTS / "node", "test"), (EXAMPLES / "node", "test"), (CLIENTS / "typescript", "test:container")],
    ids=["module", "example", "client"],
)
def test_node(engine: Engine, tmp_path: Path, folder: Path, script: str) -> None:
    project = copied(folder, tmp_path)
    run(engine, project, "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")

    with images_named(engine, UNEXPOSED):
        output = run(engine, project, "npm", "run", script, image=UNEXPOSED)

    assert "# fail 0" in output
    assert "# pass 0" not in output


def test_python_example(of_engine: Engine) -> None:
    run(of_engine, EXAMPLES / "python", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", ".")
