"""The tests of docs/pytest.md, run unchanged, do what the page says, and fail as it shows."""

import re
from pathlib import Path

import pytest

from .child_pytest import prepare, run_tests

pytest_plugins = ["pytester"]
pytestmark = [pytest.mark.clients, pytest.mark.processes]

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "pytest.md").read_text()
PROGRAMS = [str(text) for text in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "def test_" in text]
# What the reader has in the file before the other tests: the imports and the code under test.
CODE_UNDER_TEST = PROGRAMS[0].partition("def test_")[0]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    return prepare(pytester, monkeypatch)


def names_in(program: str) -> list[str]:
    return re.findall(r"^(?:async )?def (test_\w+)", program, re.MULTILINE)


def find_failure(program: str) -> list[str] | None:
    """Return the output that the page shows below a program, as an indented block; None without one."""
    below = PAGE.partition(f"```python\n{program}```\n")[2].partition("```")[0].split("\n## ")[0]
    lines = below.splitlines()
    indented = [number for number, line in enumerate(lines) if line.startswith("    ")]
    return [line.removeprefix("    ") for line in lines[indented[0] : indented[-1] + 1]] if indented else None


def shows(output: list[str], expected: list[str]) -> bool:
    """Whether the lines are in the output, one after the other; `...` stands for any text."""
    patterns = [".*".join(map(re.escape, line.split("..."))) for line in expected]
    return re.search(r"^" + r"\n".join(patterns) + r"$", "\n".join(output), re.MULTILINE) is not None


def test_the_page_has_tests_and_two_failures() -> None:
    assert len(PROGRAMS) >= 6
    assert sum(find_failure(program) is not None for program in PROGRAMS) == 2


@pytest.mark.parametrize("program", PROGRAMS, ids=["/".join(names_in(program)) for program in PROGRAMS])
def test_each_test_has_the_result_that_the_page_says(run: pytest.Pytester, program: str) -> None:
    run.makepyfile(test_page=program if program in PROGRAMS[:1] else CODE_UNDER_TEST + program)
    failure = find_failure(program)

    result = run_tests(run)

    if failure is None:
        result.assert_outcomes(passed=1)
    else:
        result.assert_outcomes(failed=1)
        assert shows(result.outlines, failure), result.stdout.str()


def test_the_ini_file_configures_the_broker(run: pytest.Pytester) -> None:
    [ini] = re.findall(r"```ini\n(.*?)```", PAGE, re.DOTALL)
    run.makeini(str(ini))
    run.makepyfile("""
def test_configured(fauxka, fauxka_config, fauxka_as_version):
    assert fauxka_config == {"num.partitions": "3", "auto.create.topics.enable": "false"}
    assert fauxka_as_version == "2.4"
    assert fauxka.cluster.node.config.num_partitions == 3
""")

    run_tests(run).assert_outcomes(passed=1)
