"""Clients in Go and Node over SASL_SSL and with a certificate, each with the tests of its own project."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

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


def run(folder: Path, variables: dict[str, str], *command: str) -> str:
    """Run a command in a folder, and return its output; it has to succeed."""
    ended = subprocess.run(
        command,
        cwd=folder,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert ended.returncode == 0, f"{' '.join(command)}:\n{ended.stdout[-6000:]}"
    return ended.stdout


def words_of(text: str) -> str:
    """Return the text with one blank between its words."""
    return re.sub(r"\s+", " ", text)


@pytest.mark.go
@pytest.mark.parametrize("client", ["FranzGo", "Sarama"])
def test_client_in_go_writes_reads_and_reports_a_wrong_password(variables: dict[str, str], client: str) -> None:
    output = run(GO, variables, "go", "test", "-count=1", "-v", "-run", f"^Test{client}", ".")

    assert len(re.findall(rf"^--- PASS: Test{client}", output, re.MULTILINE)) == 3


@pytest.mark.node
def test_client_in_node_writes_reads_and_reports_a_wrong_password(variables: dict[str, str], project: Path) -> None:
    run(project, variables, "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")

    output = run(project, variables, "npm", "test")

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
