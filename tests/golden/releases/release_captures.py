"""The captured cases of other releases, each as what differs from the same case of Kafka 4.3.0.

golden-releases.jsonl has one line for a release (`version`, `ranges`: the versions of its APIs, `not_recorded`: the
cases of 4.3.0 that it cannot have), and then one line for each case that differs (`case`, `fields`, `without`: the
fields that it does not have).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from fauxka.protocol.apis.api import Release

from ..case_recorder import Case, Json
from ..replay import load_cases
from .release_connection import Ranges

CAPTURED_RELEASES = Path(__file__).parent.parent / "golden-releases.jsonl"


@dataclass(frozen=True, slots=True)
class ReleaseCapture:
    """What one release answered. version: with the patch level. cases: by program and case."""

    version: str
    ranges: Ranges
    cases: Mapping[str, Case]

    @property
    def release(self) -> Release:
        """The major and the minor version."""
        major, minor, *_ = self.version.split(".")
        return int(major), int(minor)


def key_of(case: Case) -> str:
    """The name of a case in all programs."""
    return f"{case['program']} {case['case']}"


def by_key(cases: Iterable[Case]) -> dict[str, Case]:
    """Return the cases by their key."""
    return {key_of(case): case for case in cases}


def load_captures(path: Path = CAPTURED_RELEASES) -> dict[str, ReleaseCapture]:
    """Return the captures by version, oldest first."""
    newest = by_key(load_cases())
    captures: dict[str, ReleaseCapture] = {}
    cases: dict[str, Case] = {}
    for line in map(json.loads, path.read_text().splitlines()):
        if "ranges" in line:
            ranges = {int(key): cast("tuple[int, int]", tuple(versions)) for key, versions in line["ranges"].items()}
            cases = {key: case for key, case in newest.items() if key not in set(line["not_recorded"])}
            captures[line["version"]] = ReleaseCapture(line["version"], ranges, cases)
        else:
            kept = {name: value for name, value in cases[line["case"]].items() if name not in line["without"]}
            cases[line["case"]] = {**kept, **line["fields"]}
    return captures


def lines_of(capture: ReleaseCapture) -> list[str]:
    """Return the lines of one release in the file."""
    newest = by_key(load_cases())
    not_recorded: list[Json] = [key for key in newest if key not in capture.cases]
    ranges: dict[str, Json] = {str(key): [*versions] for key, versions in capture.ranges.items()}
    lines: list[dict[str, Json]] = [{"version": capture.version, "ranges": ranges, "not_recorded": not_recorded}]
    for key, case in capture.cases.items():
        before = newest[key]
        if case != before:
            fields = {name: value for name, value in case.items() if name not in before or before[name] != value}
            without: list[Json] = [name for name in before if name not in case]
            lines.append({"case": key, "fields": fields, "without": without})
    return [json.dumps(line) for line in lines]


def write_captures(captures: Sequence[ReleaseCapture], path: Path = CAPTURED_RELEASES) -> None:
    """Write the file anew, oldest release first."""
    ordered = sorted(captures, key=lambda each: [int(part) for part in each.version.split(".")])
    path.write_text("".join(f"{line}\n" for capture in ordered for line in lines_of(capture)))
