"""The commands of the table in the section "Install" of README.md, with an index on loopback.

The row about a C compiler: test_installation_without_a_compiler_is_plain_python in test_packaging.py.
"""

import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from .package_index import HOST_BEHIND_PROXY, PackageIndex, serving_index
from .serving_process import Ended, environment
from .test_packaging import NOT_COPIED, ROOT

pytestmark = [pytest.mark.packaging, pytest.mark.timeout(900)]

# Also root cannot create a folder there.
READ_ONLY_HOME = "/proc/no-home"
SECONDS_MAX = 240
SECTION = (ROOT / "README.md").read_text().partition("\n## Install\n")[2].partition("\n## ")[0]
ROWS = {
    str(name): str(cell) for name, cell in re.findall(r"^\| ([a-z][^|]+) \| ([^|]*`[^|]*) \|$", SECTION, re.MULTILINE)
}
# What configures pip, uv and pipx.
CONFIGURING = re.compile(r"^(?:PIP_|UV_|PIPX_|HTTPS?_PROXY$|ALL_PROXY$|NO_PROXY$)", re.IGNORECASE)


def command_of(row: str) -> str:
    """Return the first command of a row."""
    (command,) = re.findall(r"`([^`]+)`", ROWS[row])[:1]
    return str(command)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheels of fauxka, as plain Python, and of what it depends on."""
    folder = tmp_path_factory.mktemp("wheels")
    copy = folder / "checkout"
    shutil.copytree(ROOT, copy, symlinks=True, ignore=shutil.ignore_patterns(*NOT_COPIED))
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--wheel-dir", str(folder), str(copy)]
    subprocess.run(command, env=environment({"FAUXKA_COMPILE": "0"}), check=True, timeout=SECONDS_MAX)
    return folder


@pytest.fixture
def index(wheels: Path, tmp_path: Path) -> Iterator[PackageIndex]:
    with serving_index(wheels, tmp_path / "index") as running:
        yield running


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """The folder of programs of a fresh environment."""
    venv.create(tmp_path / "fresh", with_pip=True)
    return tmp_path / "fresh" / "bin"


def run(command: str, programs: Path, variables: Mapping[str, str]) -> Ended:
    """Run a command with only these variables for pip, uv and pipx, and a home folder that cannot be written."""
    kept = {name: value for name, value in environment().items() if not CONFIGURING.match(name)}
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    variables = {**kept, "PATH": path, "HOME": READ_ONLY_HOME, "PIP_CONFIG_FILE": os.devnull, **variables}
    ended = subprocess.run(
        ["bash", "-c", command], env=variables, capture_output=True, text=True, timeout=SECONDS_MAX, check=False
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def of_index(index: PackageIndex) -> dict[str, str]:
    return {"PIP_INDEX_URL": index.url, "UV_DEFAULT_INDEX": index.url, "UV_PYTHON": sys.executable}


def assert_demo(ended: Ended) -> None:
    assert ended.exit_code == 0, ended.log
    assert "Produce" in ended.output


@pytest.mark.parametrize("row", ["in an environment", "without a home folder that can be written"])
def test_pip_installs_the_command(row: str, index: PackageIndex, programs: Path) -> None:
    installed = run(command_of(row), programs, of_index(index))

    assert installed.exit_code == 0, installed.log
    assert_demo(run("fauxka demo", programs, {}))


def test_pip_installs_behind_a_proxy_and_not_without_it(index: PackageIndex, programs: Path) -> None:
    command = command_of("behind a proxy").replace("http://HOST:PORT", index.address)
    variables = {"PIP_INDEX_URL": index.url_behind_proxy, "PIP_TRUSTED_HOST": HOST_BEHIND_PROXY, "PIP_RETRIES": "0"}

    without = run("pip install fauxka", programs, variables)
    before = list(index.proxied)
    installed = run(command, programs, variables)

    assert (without.exit_code, before) == (1, [])
    assert installed.exit_code == 0, installed.log
    assert set(index.proxied) == {HOST_BEHIND_PROXY}
    assert_demo(run("fauxka demo", programs, {}))


@pytest.mark.parametrize("is_proxied", [False, True], ids=["direct", "proxy"])
def test_uvx_runs_the_command(is_proxied: bool, index: PackageIndex, tmp_path: Path) -> None:
    variables = {**of_index(index), "UV_CACHE_DIR": str(tmp_path / "uv"), "UV_TOOL_DIR": str(tmp_path / "tools")}
    if is_proxied:
        variables |= {"UV_DEFAULT_INDEX": index.url_behind_proxy, "HTTP_PROXY": index.address}

    assert_demo(run(command_of("once, without an environment"), tmp_path, variables))
    assert set(index.proxied) == ({HOST_BEHIND_PROXY} if is_proxied else set())


def test_pipx_runs_the_command(index: PackageIndex, programs: Path, tmp_path: Path) -> None:
    installing = [str(programs / "python"), "-m", "pip", "install", "--quiet", "pipx"]
    subprocess.run(installing, env=environment(), check=True, timeout=SECONDS_MAX)
    folders = {f"PIPX_{name}": str(tmp_path / name) for name in ("HOME", "BIN_DIR", "MAN_DIR")}
    # pipx runs uvx, if there is one.
    folders |= {f"UV_{name}": str(tmp_path / name) for name in ("CACHE_DIR", "TOOL_DIR")}

    assert_demo(run(command_of("the same with pipx"), programs, of_index(index) | folders))
