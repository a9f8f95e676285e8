"""The examples do what they say, run as their readers run them: with `fauxka` on the PATH."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ..runtimes import need
from ..serving_process import environment

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
# The first run of a machine downloads clients, and Go compiles its own.
EXAMPLE_SECONDS_MAX = 280


def run_example(folder: Path, *command: str) -> str:
    """Run an example in a folder, and return what it printed."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ended = subprocess.run(
        command,
        cwd=folder,
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


def copied(example: str, folder: Path) -> Path:
    """Return a copy of an example that leaves files behind."""
    ignored = shutil.ignore_patterns("target", "__pycache__", ".pytest_cache")
    return Path(shutil.copytree(EXAMPLES / example, folder / example, ignore=ignored))


@pytest.mark.clients
def test_python(tmp_path: Path) -> None:
    output = run_example(copied("python", tmp_path), sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")

    assert " passed" in output.splitlines()[-1]


@pytest.mark.kcat
def test_kcat_and_curl() -> None:
    need("curl", "jq", group="the example of kcat")

    output = run_example(EXAMPLES / "kcat", "bash", "lost_ack.sh")

    assert "without idempotence: .findings[0].offsets is [0,1]\n" in output


@pytest.mark.java
def test_java(tmp_path: Path) -> None:
    run_example(copied("java", tmp_path), "mvn", "--batch-mode", "--no-transfer-progress", "test")


@pytest.mark.go
def test_go() -> None:
    run_example(EXAMPLES / "go", "go", "test", "-count=1", "./...")
