"""Every Python that pyproject.toml claims: the tests pass on it, and what ships installs and serves.

tools/release/interpreters.py finds the interpreters.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tools.release.interpreters import claimed_versions, find_interpreter

from .serving_process import environment, run, serving, stop
from .test_packaging import BUILT, ROOT

pytestmark = [pytest.mark.python_versions, pytest.mark.timeout(5400)]

# A build and an installation, both with downloads.
INSTALL_SECONDS_MAX = 600
TEST_SECONDS_MAX = 5000
# What `make` hands to the commands that it runs: the inner `make test` would run another group, or a part.
OF_MAKE = {"ARGS", "GROUP", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PROCESSES"}
UV = Path(sys.executable).with_name("uv")


@pytest.fixture(params=claimed_versions())
def interpreter(request: pytest.FixtureRequest) -> Path:
    version: str = request.param
    found = find_interpreter(version)
    if found is None:
        pytest.skip(f"no Python {version} on this machine; FAUXKA_PYTHONS may name one")
    return found


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of this checkout without anything installed or compiled. Tests of a release need its history."""
    copy = tmp_path / "checkout"
    shutil.copytree(ROOT, copy, symlinks=True, ignore=shutil.ignore_patterns(*BUILT, ".venv-*"))
    return copy


def step(*command: str, folder: Path, seconds_max: float = INSTALL_SECONDS_MAX) -> None:
    variables = {name: value for name, value in environment().items() if name not in OF_MAKE}
    ended = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=seconds_max)
    assert ended.returncode == 0, ended.stdout[-10_000:] + ended.stderr[-10_000:]


def new_environment(interpreter: Path, folder: Path) -> Path:
    """Create a virtual environment and return its folder of programs. uv brings pip, which some Pythons lack."""
    step(str(UV), "venv", "--quiet", "--seed", "--python", str(interpreter), str(folder), folder=ROOT)
    return folder / "bin"


def test_tests_pass(interpreter: Path, checkout: Path) -> None:
    new_environment(interpreter, checkout / ".venv")

    step("make", "test", folder=checkout, seconds_max=TEST_SECONDS_MAX)


@pytest.mark.parametrize("extra", ["", "[clients]"])
@pytest.mark.parametrize("kind", ["sdist", "wheel"])
def test_distribution_installs_and_serves(
    interpreter: Path, checkout: Path, tmp_path: Path, kind: str, extra: str
) -> None:
    programs = new_environment(interpreter, tmp_path / "fresh")
    builder = new_environment(interpreter, tmp_path / "builder")
    step(str(builder / "python"), "-m", "pip", "install", "--quiet", "build", folder=tmp_path)
    step(str(builder / "python"), "-m", "build", f"--{kind}", "--outdir", str(tmp_path), str(checkout), folder=tmp_path)
    (distribution,) = tmp_path.glob("*.whl" if kind == "wheel" else "*.tar.gz")

    step(str(programs / "python"), "-m", "pip", "install", "--quiet", f"{distribution}{extra}", folder=tmp_path)
    command = [str(programs / "fauxka")]
    with serving(tmp_path, command=command) as broker:
        health = run("health", "--port", str(broker.port), command=command)
        stopped = stop(broker, signal.SIGTERM)
    scenario = run("scenario", "run", "lost-ack", "--client", "confluent", command=command)

    assert (health.exit_code, stopped.exit_code) == (0, 0), stopped.log
    # Without the extra there is no client.
    assert scenario.exit_code == (0 if extra else 2), scenario.log
