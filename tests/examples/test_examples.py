"""The examples do what they say, run by the commands of their readme: with `fauxka` on the PATH."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ..runtimes import need
from ..serving_process import environment

pytestmark = pytest.mark.processes

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
# The first run of a machine downloads clients, and Go compiles its own.
EXAMPLE_SECONDS_MAX = 280


PLACES = pytest.mark.parametrize("place", ["in the folder", "in the repository"])


def command_of(example: str, place: str) -> str:
    """Return the command of an example in the table of the readme."""
    rows = [line.split("|")[1:-1] for line in (EXAMPLES / "README.md").read_text().splitlines() if line.startswith("|")]
    header, _, *examples = ([cell.strip() for cell in row] for row in rows)
    (row,) = [row for row in examples if row[0].startswith(f"[{example}]")]
    return row[header.index(place)].strip("`")


def run_example(example: str, place: str, root: Path) -> str:
    """Run an example in a folder that has `examples`, and return what it printed."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ended = subprocess.run(
        ["bash", "-c", command_of(example, place)],
        cwd=root / "examples" / example if place == "in the folder" else root,
        env=environment({"PATH": path}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=EXAMPLE_SECONDS_MAX,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout
    return ended.stdout


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a copy of the examples, which leave files behind."""
    ignored = shutil.ignore_patterns("target", "__pycache__", ".pytest_cache")
    shutil.copytree(EXAMPLES, tmp_path / "examples", ignore=ignored)
    return tmp_path


@pytest.mark.clients
@PLACES
def test_python(place: str, root: Path) -> None:
    output = run_example("python", place, root)

    assert re.search(r"^4 passed|=+ 4 passed", output, re.MULTILINE)


@pytest.mark.kcat
@PLACES
def test_kcat_and_curl(place: str, root: Path) -> None:
    need("curl", "jq", group="the example of kcat")

    output = run_example("kcat", place, root)

    assert "without idempotence: .findings[0].offsets is [0,1]\n" in output


@pytest.mark.java
@PLACES
def test_java(place: str, root: Path) -> None:
    run_example("java", place, root)


@pytest.mark.go
@PLACES
def test_go(place: str, root: Path) -> None:
    run_example("go", place, root)
