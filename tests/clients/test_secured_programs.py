"""Clients in Go and Node over SASL_SSL and with a certificate, each with the tests of its own project."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..projects import run_in_project
from ..serving_process import environment
from .secured_broker import SecuredBroker, blocks_of

HERE = Path(__file__).parent
GO, NODE = HERE / "go", HERE / "node"
# The first run of a machine downloads and compiles the clients.
SECONDS_MAX = 280


@pytest.fixture
def variables(secured_broker: SecuredBroker, mutual_tls_broker: SecuredBroker) -> dict[str, str]:
    """What leads a program to the brokers."""
    return environment(
        {
            "SECURED_ADDRESS": secured_broker.bootstrap,
            "SECURED_FOLDER": str(secured_broker.folder),
            "MUTUAL_ADDRESS": mutual_tls_broker.bootstrap,
            "MUTUAL_FOLDER": str(mutual_tls_broker.folder),
        }
    )


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    """A copy of the project for Node, in which npm may leave what it makes."""
    folder = shutil.copytree(NODE, tmp_path / "node", ignore=shutil.ignore_patterns("node_modules"))
    yield folder
    shutil.rmtree(folder)


def words_of(text: str) -> str:
    """Return the text with one blank between its words."""
    return re.sub(r"\s+", " ", text)


@pytest.mark.go
@pytest.mark.parametrize("client", ["FranzGo", "Sarama"])
def test_client_in_go_writes_reads_and_reports_a_wrong_password(variables: dict[str, str], client: str) -> None:
    command = ("go", "test", "-count=1", "-v", "-run", f"^Test{client}", ".")

    output = run_in_project(GO, variables, *command, seconds_max=SECONDS_MAX)

    assert len(re.findall(rf"^--- PASS: Test{client}", output, re.MULTILINE)) == 3


@pytest.mark.node
def test_client_in_node_writes_reads_and_reports_a_wrong_password(variables: dict[str, str], project: Path) -> None:
    installing = ("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
    run_in_project(project, variables, *installing, seconds_max=SECONDS_MAX)

    output = run_in_project(project, variables, "npm", "test", seconds_max=SECONDS_MAX)

    assert "# pass 5\n" in output
    assert "# fail 0\n" in output


@pytest.mark.parametrize(
    ("client", "program"),
    [
        ("franz-go", GO / "franz_test.go"),
        ("sarama", GO / "sarama_test.go"),
        ("kafkajs", NODE / "secured.test.js"),
    ],
)
def test_page_shows_lines_of_the_program(client: str, program: Path) -> None:
    source = words_of(program.read_text())
    blocks = blocks_of(client)

    missing = [line for block in blocks for line in block.splitlines() if words_of(line).strip() not in source]

    assert len(blocks) == 2
    assert missing == []
