"""The table at the end of a check: one row for each artefact of a release, built here or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

HEADINGS = ("artefact", "size", "install (processor)", "start", "tests")


@dataclass(frozen=True, slots=True)
class Seconds:
    """How long a command took. processor: of its processes, which other programs of the machine hardly change."""

    elapsed: float
    processor: float

    def cell(self) -> str:
        """Return the text for the table."""
        return f"{self.elapsed:.1f} s ({self.processor:.1f})"


@dataclass(slots=True)
class Row:
    """What was measured of an artefact, filled in by the steps of its check.

    installed_by: the seconds of an installation without a download, by the name of the installer.
    not_built: why this machine has not built it; None for what it has built.
    """

    artefact: str
    bytes: int | None = None
    installed_by: dict[str, Seconds] = field(default_factory=dict[str, Seconds])
    start_seconds: float | None = None
    passed: list[str] = field(default_factory=list[str])
    failed: dict[str, str] = field(default_factory=dict[str, str])
    not_built: str | None = None

    def cells(self) -> tuple[str, ...]:
        """Return the row as texts, in the order of HEADINGS."""
        size = "" if self.bytes is None else f"{self.bytes / 1e6:.1f} MB"
        install = ", ".join(f"{name} {seconds.cell()}" for name, seconds in self.installed_by.items())
        start = "" if self.start_seconds is None else f"{self.start_seconds:.2f} s"
        return self.artefact, size, install, start, self._tests()

    def _tests(self) -> str:
        if self.not_built is not None:
            return f"not built here: {self.not_built}"
        if self.failed:
            return f"{len(self.passed)} passed, FAILED: {', '.join(self.failed)}"
        return f"{len(self.passed)} passed"


def format_table(rows: Sequence[Row]) -> str:
    """Return the rows as a table of Markdown whose columns are aligned."""
    lines = [HEADINGS, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    padded = [[cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in lines]
    padded.insert(1, ["-" * width for width in widths])
    return "".join(f"| {' | '.join(line)} |\n" for line in padded)


def exit_code(rows: Sequence[Row], differences: Sequence[str]) -> int:
    """Return 0 if each row that was built passed, and two builds were equal; otherwise 1.

    A row that was built and without any test counts as failed.
    """
    built = [row for row in rows if row.not_built is None]
    return int(not built or bool(differences) or any(row.failed or not row.passed for row in built))
