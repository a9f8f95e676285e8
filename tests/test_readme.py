"""The programs and commands in README.md, and the ways to start a broker in docs/commands.md, do what the pages say."""

import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from .brokers_by_hand import StartedByHand
from .runtimes import need
from .serving_process import Ended, environment, serving

pytestmark = [pytest.mark.processes, pytest.mark.slice]

README = Path(__file__).resolve().parent.parent / "README.md"
COMMANDS = README.parent / "docs" / "commands.md"
PROGRAM_SECONDS_MAX = 60
# Where the command `fauxka` is.
PROGRAMS = Path(sys.executable).parent
KAFKA_LOGS = README.parent / "tests" / "golden" / "kafka-4.3.0-data-dir"


def program(first_line: str) -> str:
    """Return the one program of the page that begins so."""
    texts = [match[1] for match in re.finditer(r"```python\n(.*?)```", README.read_text(), re.DOTALL)]
    (found,) = [str(text) for text in texts if text.startswith(first_line)]
    return found


def run_program(text: str, log: str = "") -> str:
    """Return the output of a program. log: a part of what it logs, "" for nothing."""
    result = subprocess.run(
        [sys.executable, "-c", text], env=environment(), capture_output=True, text=True, timeout=PROGRAM_SECONDS_MAX
    )
    assert result.returncode == 0, result.stderr
    assert (log in result.stderr) if log else (result.stderr == ""), result.stderr
    return result.stdout


@pytest.mark.clients
def test_producer_and_consumer_print_the_sent_records(tmp_path: Path) -> None:
    text = program("from confluent_kafka")

    with serving(tmp_path) as broker:
        output = run_program(text.replace("127.0.0.1:9092", broker.bootstrap))

    assert output == "".join(f"{number} hello {number}\n" for number in range(10))


def test_broker_in_a_test_prints_its_address() -> None:
    output = run_program(program("from fauxka.testing"))

    assert re.fullmatch(r"127\.0\.0\.1:\d+\n", output)


@pytest.fixture
def by_hand(tmp_path: Path) -> Iterator[StartedByHand]:
    starts = StartedByHand(tmp_path)
    yield starts
    starts.close()


def section(heading: str, page: Path) -> str:
    """Return the text below a heading."""
    return page.read_text().partition(f"## {heading}\n")[2].partition("\n## ")[0]


def shell_blocks(heading: str, page: Path = README) -> list[str]:
    """Return the indented blocks below a heading, without the indent."""
    blocks = re.findall(r"(?:^ {4}.*\n)+", section(heading, page), re.MULTILINE)
    return [textwrap.dedent(block) for block in blocks]


def shell(script: str, folder: Path, variables: Mapping[str, str] | None = None) -> Ended:
    """Run a script in a folder, with the programs of this environment on the PATH."""
    path = os.pathsep.join([str(PROGRAMS), os.environ["PATH"]])
    result = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environment({"PATH": path, **(variables or {})}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PROGRAM_SECONDS_MAX,
    )
    return Ended(result.returncode, result.stdout, result.stderr)


@pytest.mark.clients
def test_lost_acknowledgement_is_shown_by_the_commands_and_over_http(by_hand: StartedByHand, tmp_path: Path) -> None:
    need("curl", group="README.md")
    broker = by_hand.serve()
    by_hand.found(f"{broker.admin}\n")
    add, show, over_http, _ = shell_blocks("Lose an acknowledgement")
    text = program("from confluent_kafka").replace("127.0.0.1:9092", broker.bootstrap)

    added = shell(add, tmp_path, by_hand.variables)
    run_program(text, log="Disconnected: connection closed by peer")
    shown = shell(show, tmp_path, by_hand.variables)
    called = shell(f"set -e\n{over_http}", tmp_path, by_hand.variables)

    assert (added.exit_code, added.log) == (0, "")
    assert "duplicates recognised 1" in " ".join(shown.output.split())
    assert "no response; close at applied by rule 1" in shown.output
    rule, verdict, journal = decoded(called.output)
    assert (rule["action"], rule["remaining"]) == ({"kind": "close"}, 1)
    assert verdict["batches"]["duplicates_recognised"] == 1
    assert [item["api"] for item in journal["items"]] == ["Produce", "Produce"]


def decoded(text: str) -> list[dict[str, Any]]:
    """Return JSON objects that follow each other."""
    found: list[dict[str, Any]] = []
    while text.strip():
        value, end = json.JSONDecoder().raw_decode(text.lstrip())
        found.append(value)
        text = text.lstrip()[end:]
    return found


@pytest.mark.clients
def test_scenarios_are_listed_and_run(tmp_path: Path) -> None:
    *_, scenarios = shell_blocks("Lose an acknowledgement")

    ended = shell(f"set -e\n{scenarios}", tmp_path)

    assert (ended.exit_code, ended.log) == (0, "")
    assert "\nclients: raw, confluent, aiokafka, kafka-python\n" in ended.output
    assert ended.output.endswith("All checks passed.\n")


def commands_without_spark() -> list[str]:
    """Return the lines below "Start a broker", without comments."""
    (block,) = shell_blocks("Start a broker", COMMANDS)
    lines = [line.partition(" #")[0].strip() for line in block.splitlines()]
    return [line for line in lines if not re.match(r"fauxka (audit|compare|records) ", line)]


SERVED = [line for line in commands_without_spark() if "fauxka serve" in line]


@pytest.mark.parametrize("line", SERVED)
def test_every_way_to_serve_serves(line: str, tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text('point = "applied"\naction = { kind = "close" }\n')
    named = line.replace("/var/lib/kafka/data", str(KAFKA_LOGS))
    port = "" if "--port" in named else " --port 0"
    path = os.pathsep.join([str(PROGRAMS), os.environ["PATH"]])
    process = subprocess.Popen(
        ["bash", "-c", f"exec env {named}{port}"],
        cwd=tmp_path,
        env=environment({"PATH": path}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        process.terminate()
        _, log = process.communicate(timeout=PROGRAM_SECONDS_MAX)
    finally:
        process.kill()

    (protocol,) = re.findall(r"--listener (\w+)", line) or ["PLAINTEXT"]
    assert re.fullmatch(rf"{protocol}://127\.0\.0\.1:\d+\n", first), log
    assert process.returncode == 0, log


def test_a_running_broker_is_exported_and_healthy(tmp_path: Path) -> None:
    export, health = (line for line in commands_without_spark() if "fauxka serve" not in line)

    with serving(tmp_path, "--seed-topic", "orders") as broker:
        exported = shell(export.replace("127.0.0.1:9092", broker.bootstrap), tmp_path)
        checked = shell(f"{health} --port {broker.port}", tmp_path)

    assert (exported.exit_code, checked.exit_code) == (0, 0)
    assert (tmp_path / "folder" / "server.properties").exists()


def test_every_page_that_is_pointed_to_is_there() -> None:
    targets = [str(match[1]) for match in re.finditer(r"\]\((?!https?:)([^)#]+)\)", README.read_text())]

    assert targets != []
    assert [target for target in targets if not (README.parent / target).exists()] == []
