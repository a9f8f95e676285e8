"""The scripts of the page in Node: their tests, and that the checks of the page find errors."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tools import check_page

from ..projects import run_in_project
from ..runtimes import need
from ..serving_process import environment

pytestmark = pytest.mark.page

# The first run of a machine downloads the packages.
SECONDS_MAX = 300
BROKEN = "export function broken(text) {\n  return text.innerHTML == undefinedName;\n}\n"
MISTYPED = "/** @param {number} ms */\nfunction wait(ms) {\n  return ms;\n}\nwait('long');\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The scripts with their tests and packages."""
    need("node", "npm", group="the scripts of the page")
    folder = tmp_path_factory.mktemp("scripts")
    check_page.write_project(folder)
    check_page.install(folder)
    yield folder


def test_state_tables_and_drawing_of_the_timeline(project: Path) -> None:
    files = sorted(str(file) for file in (project / "tests").glob("*.test.js"))

    ended = run_in_project(project, environment(), "node", "--test", *files, seconds_max=SECONDS_MAX)

    assert "# fail 0" in ended


def test_checks_find_an_error_of_each_kind(project: Path) -> None:
    file = project / "page" / "broken.js"
    for text, check, found in (
        (BROKEN, check_page.LINT, ("no-undef", "eqeqeq", "no-restricted-properties")),
        (MISTYPED, check_page.TYPES, ("TS2345",)),
    ):
        file.write_text(text)
        with pytest.raises(AssertionError) as failed:
            run_in_project(project, environment(), *check, seconds_max=SECONDS_MAX)
        assert [rule for rule in found if rule not in str(failed.value)] == []
    file.unlink()
