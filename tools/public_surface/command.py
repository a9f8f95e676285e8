"""Compares the surface with surface.txt and CHANGELOG.md, or writes surface.txt."""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from .contents import exit_code_entries, image_entries, json_entries, variable_entries
from .interfaces import command_entries, http_entries, pytest_entries, spark_entries
from .python_names import Entries, python_entries

ROOT = Path(__file__).resolve().parent.parent.parent
RECORDED = Path(__file__).with_name("surface.txt")
CHANGELOG = ROOT / "CHANGELOG.md"
PYPROJECT = ROOT / "pyproject.toml"
HEAD = "# The public surface of fauxka {}. Written by `make surface`; docs/stability.md has the rules."
VERSION_IN_HEAD = re.compile(r"^# The public surface of fauxka (\S+)\. ")
# A version of the change log, with its date or "unreleased".
HEADING = re.compile(r"^## (?P<version>\S+) - (?P<date>.+)$", re.MULTILINE)
UNRELEASED = "unreleased"
SEPARATOR = "  "
ANNOUNCEMENT = re.compile(r"^- (Added|Changed|Removed) `([^`]+)`", re.MULTILINE)
# What ends the name of an owner: announced is `fauxka audit`, and so is `fauxka audit --json`.
BOUNDARIES = (" ", ".", "(")


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    """An entry that is not as in the last release. kind: Added, Changed or Removed."""

    name: str
    kind: str
    detail: str


def run(arguments: list[str]) -> int:
    """Print the differences that are not announced, and return 1 if there are any. With --write record the surface."""
    parser = argparse.ArgumentParser(prog="tools.public_surface")
    parser.add_argument(
        "--write", action="store_true", help="record the surface; docs/stability.md has when it refuses"
    )
    write: bool = parser.parse_args(arguments).write
    recorded, changelog = RECORDED.read_text(), CHANGELOG.read_text()
    version = str(tomllib.loads(PYPROJECT.read_text())["project"]["version"])
    text = text_of(current_surface(), version)
    found = differences(entries_in(recorded), entries_in(text))
    refused = reason_to_refuse(recorded_version(recorded), changelog, found)
    if write and refused is None:
        RECORDED.write_text(text)
        return 0
    missing = unannounced(found, announcing_section(changelog, recorded_version(recorded)))
    for each in missing:
        print(f"- {each.kind} `{each.name}`: {each.detail}", file=sys.stderr)
    if write:
        print(f"not recorded: {refused}", file=sys.stderr)
    elif missing:
        print(
            f"{len(missing)} changes of the public surface are not in CHANGELOG.md: docs/stability.md", file=sys.stderr
        )
    return 1 if write or missing else 0


def recorded_version(text: str) -> str:
    """Return the version in the head of surface.txt."""
    found = VERSION_IN_HEAD.match(text)
    assert found is not None, "surface.txt has a version in its first line"
    return found[1]


def released_versions(changelog: str) -> list[str]:
    """Return the versions with a date, the newest first."""
    return [found["version"] for found in HEADING.finditer(changelog) if found["date"] != UNRELEASED]


def newest_version(changelog: str) -> str:
    """Return the first version of the change log, released or not."""
    found = HEADING.search(changelog)
    assert found is not None, "CHANGELOG.md has a version"
    return found["version"]


def reason_to_refuse(recorded: str, changelog: str, found: Collection[Difference]) -> str | None:
    """Return why the surface cannot be recorded; None if it can. recorded: the version of the present record."""
    released, newest = released_versions(changelog), newest_version(changelog)
    if not released:
        # The record before the first release is that of the tree.
        return None
    if newest not in released:
        return f"{newest} has no date in CHANGELOG.md; until then the record is that of {recorded}"
    if recorded == newest:
        return f"the surface of {newest} is recorded, and {newest} is released" if found else None
    missing = unannounced(found, announcing_section(changelog, recorded))
    return f"{len(missing)} changes are not announced in CHANGELOG.md" if missing else None


def current_surface() -> dict[str, Entries]:
    """Return the entries of each section."""
    return {
        "Python": python_entries(),
        "HTTP": http_entries(),
        "Command line": command_entries(),
        "pytest": pytest_entries(),
        "Spark": spark_entries(),
        "JSON": json_entries(),
        "Exit codes": exit_code_entries(),
        "Environment": variable_entries(),
        "Image": image_entries(),
    }


def text_of(surface: Mapping[str, Entries], version: str) -> str:
    """Return the text of surface.txt."""
    lines = [HEAD.format(version)]
    for section, entries in surface.items():
        lines += ["", f"## {section}", ""]
        lines += [f"{name}{SEPARATOR}{detail}".rstrip() for name, detail in sorted(entries.items())]
    return "\n".join([*lines, ""])


def entries_in(text: str) -> Entries:
    """Return the entries of all sections in a text."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {name: detail for name, _, detail in (line.partition(SEPARATOR) for line in lines)}


def differences(before: Entries, after: Entries) -> list[Difference]:
    """Return the differences between two surfaces, sorted by name."""
    removed = [Difference(name, "Removed", before[name]) for name in before.keys() - after.keys()]
    added = [Difference(name, "Added", after[name]) for name in after.keys() - before.keys()]
    changed = [
        Difference(name, "Changed", f"{before[name]} is now {after[name]}")
        for name in before.keys() & after.keys()
        if before[name] != after[name]
    ]
    return sorted([*removed, *added, *changed])


def unannounced(found: Collection[Difference], section: str) -> list[Difference]:
    """Return the differences that a section "Public surface" does not announce."""
    announced = [(str(match[1]), str(match[2])) for match in ANNOUNCEMENT.finditer(section)]
    return [each for each in found if not any(_covers(kind, name, each) for kind, name in announced)]


def _covers(kind: str, name: str, difference: Difference) -> bool:
    """Return whether an announcement is for a difference. An owner that is changed may have any difference below it."""
    if difference.name == name:
        return difference.kind == kind
    is_below = difference.name.startswith(tuple(name + boundary for boundary in BOUNDARIES))
    return is_below and kind in ("Changed", difference.kind)


def announcing_section(changelog: str, recorded: str) -> str:
    """Return the section "Public surface" of the newest version; "" if that is released and recorded."""
    newest = newest_version(changelog)
    if newest == recorded and newest in released_versions(changelog):
        return ""
    text = re.split(r"^## ", changelog, flags=re.MULTILINE)[1]
    return text.partition("### Public surface\n")[2].partition("\n### ")[0]
