"""The commands in the page of an audit of a planted log: each runs as pasted into a shell, and shows the finding."""

import json
import os
import re
import shlex
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from fauxka.pipeline.checks.finding_kinds import FINDING_KINDS

from ..planted.events import HEADER
from ..planted.log_folder import write_log
from ..planted.plants import planted_log
from ..serving_process import environment, run

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

SECONDS_MAX = 400
QUICK = ("--master", "local[2]", "-c", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1")
PART = re.compile(r"<h3>(.*?)</h3><p><b>Advice:</b> (.*?)</p><pre><code>(.*?)</code></pre>")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a log with all faults, with a command `fauxka` in bin."""
    folder = tmp_path_factory.mktemp("a folder's")
    write_log(planted_log(0), folder)
    command = folder / "bin" / "fauxka"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m fauxka "$@"\n')
    command.chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def parts(folder: Path) -> list[tuple[str, str, str]]:
    """The name, the advice and the command of each cause in the page."""
    page = folder / "page.html"
    ledgers = ("--sent", str(folder / "sent.jsonl"), "--journal", str(folder / "journal.jsonl"))
    what = ("--path", str(folder / "log"), "--event-id", f"header:{HEADER}", "--journal-token", "hunter2")
    ended = run("audit", *QUICK, *what, *ledgers, "--html", str(page), seconds_max=SECONDS_MAX)
    assert ended.exit_code == 1, ended.log
    assert "hunter2" not in page.read_text()
    return [(unescape(name), unescape(advice), unescape(line)) for name, advice, line in PART.findall(page.read_text())]


def paste(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line in a shell, in another folder than that of the audit."""
    variables = environment({"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"})
    return subprocess.run(
        ["/bin/sh", "-c", line],
        cwd="/",
        env=variables,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )


def test_each_cause_of_the_page_has_the_advice_of_its_kind(parts: list[tuple[str, str, str]]) -> None:
    assert len(parts) > 30
    for name, advice, _ in parts:
        check, kind, *cause = name.split()
        found = next(kinds[kind] for known, kinds in FINDING_KINDS.items() if known == check)
        assert advice == found.causes.get(cause[0] if cause else "", found.advice)


def test_each_command_shows_the_records_of_its_finding(folder: Path, parts: list[tuple[str, str, str]]) -> None:
    lines = {name: line for name, _, line in parts if line.startswith("fauxka records ")}

    for name, line in lines.items():
        ended = paste(line, folder)
        assert ended.returncode == 0, (name, line, ended.stderr)
        rows = [json.loads(row) for row in ended.stdout.splitlines()]
        there = {f"{row['topic']}-{row['partition']}:{row['offset']}" for row in rows}
        absent = set(re.findall("there is no record at (.*)", ended.stderr))
        assert rows, (name, line)
        assert set(shlex.split(line)[5::2]) == there & set(shlex.split(line)[5::2]) | absent, (name, line)
        if name.startswith("event duplicate"):
            ids = [header[1] for row in rows for header in row.get("headers", []) if header[0] == HEADER]
            assert len(set(ids)) < len(ids), (name, line)
    assert len(lines) > 28


def test_findings_without_a_place_are_listed_by_the_audit_again(
    folder: Path, parts: list[tuple[str, str, str]]
) -> None:
    lines = {name: line for name, _, line in parts if not line.startswith("fauxka records ")}
    (line,) = set(lines.values())

    ended = paste(line, folder)

    assert ended.returncode == 1, ended.stderr
    groups = json.loads(ended.stdout)["groups"]
    found = {" ".join(filter(None, (group["check"], group["kind"], group["cause"]))) for group in groups}
    assert {"event repeated_event_id"} <= set(lines) <= found
