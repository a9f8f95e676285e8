"""tools/lint_ratchet.py fails for a new exception to a limit, and for an exception that is no longer needed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.processes

ROOT = Path(__file__).resolve().parent.parent.parent
RUN_SECONDS_MAX = 120


def long_function(lines: int) -> str:
    return "".join(["def long(value: int) -> int:\n", *["    value += 1\n"] * (lines - 2), "    return value\n"])


def wide_method(arguments: int) -> str:
    names = ", ".join(f"argument_{number}" for number in range(arguments))
    return f"class Wide:\n    def call(self, {names}):\n        return None\n"


def complex_function(complexity: int) -> str:
    branch = "        if value:\n            value -= 1\n"
    return f"class Complex:\n    async def call(self, value):\n{branch * (complexity - 1)}        return value\n"


IMPORTING = "class Importing:\n    def call(self):\n        import json\n\n        return json\n"
LONG, WIDE, COMPLEX = long_function(51), wide_method(6), complex_function(9)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree of files with the tool, its limits, and no exceptions."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "storage").mkdir()
    (tmp_path / "src" / "fauxka").mkdir(parents=True)
    (tmp_path / "src" / "fauxka" / "storage").symlink_to("../../storage")
    shutil.copy(ROOT / "tools" / "lint_ratchet.py", tmp_path / "tools")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "tools" / "lint_ratchet.toml").write_text("")
    return tmp_path


def ratchet(root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(root / "tools" / "lint_ratchet.py"), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS_MAX, check=False)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (LONG, "storage/new.py:long breaks the limit of lines"),
        (WIDE, "storage/new.py:Wide.call breaks the limit of arguments"),
        (COMPLEX, "storage/new.py:Complex.call breaks the limit of complexity"),
        (IMPORTING, "storage/new.py:Importing.call breaks the limit of imports"),
    ],
    ids=["lines", "arguments", "complexity", "imports"],
)
def test_a_new_function_that_breaks_a_limit_is_an_error(tree: Path, code: str, error: str) -> None:
    (tree / "storage" / "new.py").write_text(code)

    completed = ratchet(tree)

    assert completed.returncode == 1
    assert completed.stderr.splitlines() == [error]


def test_a_function_that_does_not_ship_may_import(tree: Path) -> None:
    (tree / "tools" / "new.py").write_text(IMPORTING)

    completed = ratchet(tree)

    assert (completed.returncode, completed.stderr) == (0, "")


def test_functions_at_the_limits_are_no_error(tree: Path) -> None:
    (tree / "storage" / "new.py").write_text(long_function(50) + wide_method(5) + complex_function(8))

    completed = ratchet(tree)

    assert (completed.returncode, completed.stderr) == (0, "")


def test_a_listed_function_is_no_error_after_lines_move(tree: Path) -> None:
    new = tree / "storage" / "new.py"
    new.write_text(LONG + WIDE + COMPLEX)
    written = ratchet(tree, "--write")
    new.write_text("VALUE = 1\n\n\n" + COMPLEX + WIDE + LONG)

    completed = ratchet(tree)

    assert (written.returncode, completed.returncode, completed.stderr) == (0, 0, "")


def test_a_listed_function_that_keeps_the_limit_is_an_error(tree: Path) -> None:
    new = tree / "storage" / "new.py"
    new.write_text(LONG)
    ratchet(tree, "--write")
    new.write_text("def long(value: int) -> int:\n    return value\n")

    completed = ratchet(tree)

    assert completed.returncode == 1
    assert completed.stderr == "storage/new.py:long keeps the limit of lines: remove it from tools/lint_ratchet.toml\n"


def test_generated_messages_have_no_limits(tree: Path) -> None:
    messages = tree / "protocol" / "messages"
    messages.mkdir(parents=True)
    (messages / "metadata.py").write_text(LONG + WIDE + COMPLEX)

    completed = ratchet(tree)

    assert (completed.returncode, completed.stderr) == (0, "")
