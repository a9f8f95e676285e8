"""A hunt that goes on where an earlier one of the same program has ended: what that has done is kept in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from ...storage.file_systems.own_folder import replace_file
from .errors import BadHuntOption
from .finding import Finding, Hunted, Tried
from .judgement import Outcome
from .reproduction import RUN_FILE

STATE_FILE = "hunt.json"
_DONE_AGAIN = (Outcome.UNFINISHED, Outcome.NOT_JUDGED)


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an earlier hunt has done. seed: of its choice of pairs."""

    seed: int
    tried: Sequence[Tried]
    findings: Sequence[Finding]


def write_state(folder: Path, result: Hunted) -> None:
    """Write what the hunt has done to its folder. Raises OSError."""
    # They are in the files of the findings.
    findings = [replace(finding, timeline="") for finding in result.findings]
    replace_file(folder / STATE_FILE, msgspec.json.encode(Earlier(result.options.seed, result.tried, findings)))


def read_state(folder: Path, seed: int) -> Earlier:
    """Return what the hunt of the folder has done; a trial that did not end or could not be judged is done again.

    Raises BadHuntOption if there was none, or if its seed was another.
    """
    file = folder / STATE_FILE
    try:
        earlier = msgspec.json.decode(file.read_bytes(), type=Earlier)
    except (OSError, msgspec.DecodeError) as error:
        raise BadHuntOption(f"--continue: {file} has no earlier hunt: {error}") from error
    if earlier.seed != seed:
        raise BadHuntOption(f"--continue: the earlier hunt has --seed {earlier.seed}, not {seed}")
    tried = [each for each in earlier.tried if each.judgement.outcome not in _DONE_AGAIN]
    findings = [
        replace(finding, timeline=_timeline_in(folder / str(number)))
        for number, finding in enumerate(earlier.findings, start=1)
    ]
    return replace(earlier, tried=tried, findings=findings)


def _timeline_in(folder: Path) -> str:
    file = folder / RUN_FILE
    return file.read_text("utf-8") if file.exists() else ""
