"""The programs of docs/cluster.md and the failover in README.md, run unchanged, do what the pages say."""

import re
from pathlib import Path

import pytest

from .child_pytest import prepare, run_tests

pytest_plugins = ["pytester"]
pytestmark = [pytest.mark.clients, pytest.mark.processes]

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = re.compile(r"```python\n(.*?)```", re.DOTALL)
PROGRAMS = [str(text) for text in PROGRAM.findall((ROOT / "docs" / "cluster.md").read_text())]
IMPORTS = PROGRAMS[0].partition("def test_")[0]
IN_README = [str(text) for text in PROGRAM.findall((ROOT / "README.md").read_text()) if "def test_failover" in text]


def as_test(program: str) -> str:
    """Return a program as a test; one that is no function becomes its body."""
    if "def test_" in program:
        return program
    return "def test_program():\n" + "".join(f"    {line}\n" for line in program.splitlines())


@pytest.mark.parametrize("program", [*PROGRAMS, *IN_README])
def test_program_of_the_page_runs(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    prepare(pytester, monkeypatch)
    pytester.makepyfile(test_page=IMPORTS + as_test(program.removeprefix(IMPORTS)))

    run_tests(pytester).assert_outcomes(passed=1)


def test_both_pages_have_programs() -> None:
    assert (len(PROGRAMS), len(IN_README)) == (3, 1)
