"""The client of the admin API for TypeScript, by its own tests."""

import re
import shutil
from pathlib import Path

import pytest

from ..projects import run_in_project

CLIENT = Path(__file__).resolve().parents[2] / "clients" / "typescript"
# The first run of a machine downloads the packages.
SECONDS_MAX = 280


@pytest.mark.slice
@pytest.mark.node
def test_client_in_typescript_passes_its_own_tests(variables: dict[str, str], tmp_path: Path) -> None:
    project = shutil.copytree(CLIENT, tmp_path / "client", ignore=shutil.ignore_patterns("node_modules", "dist"))
    installing = ("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
    run_in_project(project, variables, *installing, seconds_max=SECONDS_MAX)

    output = run_in_project(project, variables, "npm", "test", seconds_max=SECONDS_MAX)

    assert "# fail 0\n" in output
    assert re.search(r"^# pass [1-9]", output, re.MULTILINE)
