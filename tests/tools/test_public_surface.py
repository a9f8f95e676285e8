"""The public surface is the recorded one, except for what CHANGELOG.md announces."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import pytest

from tools.public_surface import command
from tools.public_surface.command import (
    Difference,
    announcing_section,
    differences,
    entries_in,
    newest_version,
    reason_to_refuse,
    recorded_version,
    released_versions,
    text_of,
    unannounced,
)
from tools.public_surface.interfaces import command_entries

pytestmark = pytest.mark.processes

RECORDED = {"fauxka serve": "", "fauxka serve --port": "INTEGER", "GET /v1/nodes": "200"}
CHANGELOG = """# Changelog

## 0.2.0 - unreleased

### Added
- `fauxka serve --nodes` runs several.

### Public surface
{lines}

### Fixed
- Changed `fauxka serve`.

## 0.1.0 - 2026-11-30

### Public surface
- Removed `GET /v1/nodes`: of an earlier release
"""


RELEASED = "0.1.0"


def changelog(*lines: str) -> str:
    return CHANGELOG.format(lines="\n".join(lines))


def section(*lines: str) -> str:
    return announcing_section(changelog(*lines), RELEASED)


def names(found: list[Difference]) -> list[str]:
    return [f"{each.kind} {each.name}" for each in found]


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="types are text as Python 3.11 writes it")
def test_no_change_since_the_recorded_version_is_unannounced() -> None:
    recorded = command.RECORDED.read_text()
    now = entries_in(text_of(command.current_surface(), RELEASED))
    changed = differences(entries_in(recorded), now)

    announced = announcing_section(command.CHANGELOG.read_text(), recorded_version(recorded))
    assert unannounced(changed, announced) == [], "docs/stability.md says how to announce them"


def test_the_record_is_of_the_last_release_or_before_the_first_one_of_the_tree() -> None:
    log = command.CHANGELOG.read_text()

    recorded = recorded_version(command.RECORDED.read_text())
    assert recorded == (released_versions(log) or [newest_version(log)])[0], "`make surface` records a release"


def test_surface_has_what_users_write() -> None:
    recorded = entries_in(command.RECORDED.read_text())

    assert {
        "fauxka serve --port",
        "GET /v1/verdict",
        "GET /v1/verdict query topic",
        "fauxka.testing.Broker.verdict",
        "fauxka.testing.Broker.topics",
        "fixture faults",
        "mark fauxka_flow",
        "option --fauxka-report",
        "column records.offset",
        "json TopicTotals.topic",
        "ready file.nodes[].rack",
        "exit codes of audit.md",
        "variable FAUXKA_ADMIN_TOKEN",
        "image EXPOSE",
    } <= recorded.keys()
    assert recorded["exit codes of audit.md"] == "0 1 2"
    assert recorded["image ENV FAUXKA_HOST"] == "0.0.0.0"
    assert recorded["fixture faults"] == "function -> Faults"


def test_a_bound_and_a_default_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.group()
    def group() -> None: ...

    @group.command()
    @click.option("--port", type=click.IntRange(0, 65535), help="Port.  [default: 9092]")
    @click.option("--nodes", type=click.IntRange(min=1), default=1, envvar="NODES")
    @click.option("--plain", is_flag=True)
    def serve(port: int | None, nodes: int, plain: bool) -> None: ...

    monkeypatch.setattr("fauxka.__main__.commands", group)

    entries = command_entries()
    assert entries["fauxka serve --port"] == "INTEGER RANGE 0..65535 default 9092"
    assert entries["fauxka serve --nodes"] == "INTEGER RANGE 1.. default 1 variable NODES"
    assert entries["fauxka serve --plain"] == "BOOLEAN flag"


def test_a_recorded_text_gives_the_entries_back() -> None:
    assert entries_in(text_of({"Command line": RECORDED}, "0.1.0")) == RECORDED
    assert recorded_version(text_of({}, "0.1.0")) == "0.1.0"


@pytest.mark.parametrize(
    ("after", "difference"),
    [
        ({**RECORDED, "fauxka serve --nodes": "INTEGER"}, "Added fauxka serve --nodes"),
        ({**RECORDED, "fauxka serve --port": "TEXT"}, "Changed fauxka serve --port"),
        ({name: RECORDED[name] for name in ("fauxka serve", "fauxka serve --port")}, "Removed GET /v1/nodes"),
    ],
)
def test_an_unannounced_difference_is_found(after: dict[str, str], difference: str) -> None:
    found = differences(RECORDED, after)

    assert names(unannounced(found, section("Nothing."))) == [difference]
    kind, _, name = difference.partition(" ")
    assert unannounced(found, section(f"- {kind} `{name}`: why")) == []


@pytest.mark.parametrize(
    "line",
    [
        "- Removed `fauxka serve --port`: of another kind",
        "- Changed `fauxka serve --po`: of another name",
        "* Changed `fauxka serve --port`: of another form",
    ],
)
def test_another_line_does_not_announce(line: str) -> None:
    found = differences(RECORDED, {**RECORDED, "fauxka serve --port": "TEXT"})

    assert names(unannounced(found, section(line))) == ["Changed fauxka serve --port"]


@pytest.mark.parametrize(
    ("kind", "covered"), [("Added", ["Removed fauxka serve --port"]), ("Changed", [])], ids=["added", "changed"]
)
def test_an_owner_announces_what_is_below_it(kind: str, covered: list[str]) -> None:
    after = {"fauxka serve": "", "fauxka serve --nodes": "INTEGER", "GET /v1/nodes": "200"}
    found = differences(RECORDED, after)

    assert names(unannounced(found, section(f"- {kind} `fauxka serve`: why"))) == covered


def test_a_released_and_recorded_version_announces_nothing_more() -> None:
    released = changelog("- Changed `fauxka serve`: why").replace("unreleased", "2026-12-24")

    assert announcing_section(released, "0.2.0") == ""
    assert announcing_section(released, RELEASED) != ""


FOUND = differences(RECORDED, {**RECORDED, "fauxka serve --port": "TEXT"})
ANNOUNCED = changelog("- Changed `fauxka serve --port`: why")


@pytest.mark.parametrize(
    ("recorded", "log", "found", "reason"),
    [
        ("0.1.0", "## 0.1.0 - unreleased\n", FOUND, None),
        ("0.1.0", "## 0.1.0 - 2026-11-30\n", [], None),
        ("0.1.0", "## 0.1.0 - 2026-11-30\n", FOUND, "the surface of 0.1.0 is recorded, and 0.1.0 is released"),
        ("0.1.0", ANNOUNCED, FOUND, "0.2.0 has no date in CHANGELOG.md; until then the record is that of 0.1.0"),
        ("0.1.0", ANNOUNCED.replace("unreleased", "2026-12-24"), FOUND, None),
        (
            "0.1.0",
            changelog("Nothing.").replace("unreleased", "2026-12-24"),
            FOUND,
            "1 changes are not announced in CHANGELOG.md",
        ),
    ],
    ids=["before the first release", "unchanged", "released", "without a date", "announced", "unannounced"],
)
def test_a_record_is_refused(recorded: str, log: str, found: list[Difference], reason: str | None) -> None:
    assert reason_to_refuse(recorded, log, found) == reason


def test_the_command_names_each_change_and_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded = tmp_path / "surface.txt"
    recorded.write_text(text_of({"Command line": RECORDED}, "0.1.0"))
    monkeypatch.setattr(command, "RECORDED", recorded)
    monkeypatch.setattr(command, "CHANGELOG", tmp_path / "CHANGELOG.md")
    command.CHANGELOG.write_text("## 0.1.0 - 2026-11-30\n")
    monkeypatch.setattr(command, "current_surface", lambda: {"Command line": {"fauxka serve": ""}})

    compared = command.run([])
    printed = capsys.readouterr().err
    refused = command.run(["--write"])
    kept = entries_in(recorded.read_text())
    command.CHANGELOG.write_text("## 0.1.0 - unreleased\n")
    written = command.run(["--write"])

    assert (compared, refused, written, command.run([])) == (1, 1, 0, 0)
    assert kept == RECORDED
    assert "- Removed `GET /v1/nodes`: 200\n" in printed
    assert "docs/stability.md" in printed
    assert "not recorded: the surface of 0.1.0 is recorded" in capsys.readouterr().err
