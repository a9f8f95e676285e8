"""The client for Go, clients/go: its own tests, with franz-go against brokers in processes of their own."""

import re
from pathlib import Path

import pytest

from ..projects import run_in_project

CLIENT = Path(__file__).resolve().parents[2] / "clients" / "go"
# The first run of a machine downloads and compiles the packages.
SECONDS_MAX = 280


@pytest.mark.slice
@pytest.mark.go
def test_client_in_go_passes_its_own_tests(variables: dict[str, str]) -> None:
    command = ("go", "test", "-count=1", "-v", "-skip", "InAContainer", "./...")

    output = run_in_project(CLIENT, variables, *command, seconds_max=SECONDS_MAX)

    assert set(re.findall(r"^--- (\w+): Test", output, re.MULTILINE)) == {"PASS"}
