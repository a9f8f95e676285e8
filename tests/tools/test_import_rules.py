"""The import rules of `make check` find a planted upward import and a planted cycle."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.processes

ROOT = Path(__file__).resolve().parent.parent.parent
RUN_SECONDS_MAX = 120
# Data and caches have no imports.
NOT_COPIED = shutil.ignore_patterns("__pycache__", "data", "*.jsonl")

UPWARD_IMPORTS = {
    "at the top": "from fauxka.broker.network import connection\n",
    "in a function": "def planted() -> None:\n    from fauxka.broker.network import connection\n",
    "for type checkers": (
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from fauxka.broker.network import connection\n"
    ),
}


@pytest.fixture
def product(tmp_path: Path) -> Path:
    """A copy of the product and of the rules."""
    shutil.copytree(ROOT / "src", tmp_path / "src", symlinks=True)
    for link in (ROOT / "src" / "fauxka").iterdir():
        source = link.resolve()
        copy = tmp_path / source.name
        if source.is_dir():
            shutil.copytree(source, copy, ignore=NOT_COPIED)
        elif source.is_file():
            shutil.copy(source, copy)
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "import_cycles.py", tmp_path / "tools")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def run(product: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the copy, where fauxka is imported from."""
    return subprocess.run(
        command,
        cwd=product,
        env={**os.environ, "PYTHONPATH": str(product / "src")},
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS_MAX,
        check=False,
    )


def check_layers(product: Path) -> subprocess.CompletedProcess[str]:
    return run(product, str(Path(sys.executable).parent / "lint-imports"), "--no-cache")


def check_cycles(product: Path) -> subprocess.CompletedProcess[str]:
    return run(product, sys.executable, str(product / "tools" / "import_cycles.py"))


def append(path: Path, code: str) -> None:
    path.write_text(f"{path.read_text()}\n\n{code}")


def allow_cycle(product: Path, *modules: str) -> None:
    """List one cycle instead of the product's. The list is the last table of the file."""
    settings = (product / "pyproject.toml").read_text().partition("[tool.import_cycles]")[0]
    (product / "pyproject.toml").write_text(f"{settings}\n[tool.import_cycles]\nallowed = [{list(modules)}]\n")


@pytest.mark.parametrize("code", UPWARD_IMPORTS.values(), ids=UPWARD_IMPORTS)
def test_an_upward_import_breaks_a_contract(product: Path, code: str) -> None:
    append(product / "broker" / "replica" / "partition.py", code)

    completed = check_layers(product)

    assert completed.returncode == 1
    assert "fauxka.broker.replica.partition -> fauxka.broker.network.connection" in completed.stdout


@pytest.mark.parametrize("code", UPWARD_IMPORTS.values(), ids=UPWARD_IMPORTS)
def test_a_new_cycle_is_an_error(product: Path, code: str) -> None:
    network = product / "broker" / "network"
    (network / "first.py").write_text(code.replace("connection", "second"))
    (network / "second.py").write_text("from . import first\n\nFIRST = first\n")

    completed = check_cycles(product)

    assert completed.returncode == 1
    assert "cycle of imports: fauxka.broker.network.first, fauxka.broker.network.second\n" in completed.stderr


def test_a_listed_cycle_that_no_longer_exists_is_an_error(product: Path) -> None:
    allow_cycle(product, "fauxka.storage.log_manager", "fauxka.storage.partition_log")

    completed = check_cycles(product)

    assert completed.returncode == 1
    assert "not a cycle: fauxka.storage.log_manager, fauxka.storage.partition_log\n" in completed.stderr


def test_a_listed_cycle_across_folders_is_an_error(product: Path) -> None:
    allow_cycle(product, "fauxka.broker.node", "fauxka.storage.partition_log")

    completed = check_cycles(product)

    assert completed.returncode == 1
    assert "not in one folder: fauxka.broker.node, fauxka.storage.partition_log\n" in completed.stderr
