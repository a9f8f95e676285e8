"""The client of the admin API for Java, by its own tests."""

import re
import shutil
from pathlib import Path

import pytest

from ..projects import run_in_project

PROJECT = Path(__file__).resolve().parents[2] / "clients" / "java"
# The first run of a machine downloads Kafka's client, JUnit and the plugins of Maven.
SECONDS_MAX = 280


@pytest.mark.slice
@pytest.mark.java
def test_client_in_java_passes_its_own_tests(variables: dict[str, str], tmp_path: Path) -> None:
    project = shutil.copytree(PROJECT, tmp_path / "java", ignore=shutil.ignore_patterns("target"))

    output = run_in_project(project, variables, "mvn", "--batch-mode", "test", seconds_max=SECONDS_MAX)

    # Only the three tests of the container are skipped.
    assert re.search(r"Tests run: [0-9]{2}, Failures: 0, Errors: 0, Skipped: 3$", output, re.MULTILINE)
