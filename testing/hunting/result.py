"""The result of a hunt."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .finding import Hunted
from .writing import write_result


@dataclass(frozen=True, slots=True)
class Result(Hunted):
    """What a hunt has done and found: `findings`, and `tried` with each trial."""

    def write(self, folder: str | Path) -> Path:
        """Write the report and the files of each finding to a folder, and return the path of the report.

        The findings of an earlier hunt are removed from it. Raises OSError.
        """
        return write_result(Path(folder), self)
