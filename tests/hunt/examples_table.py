"""Print what the hunts of examples/hunt find, and how long they take, as rows of a table.

    .venv/bin/python -m tests.hunt.examples_table [NAME...]

NAME: of OPTIONS in example_programs.py, such as outbox; without one, all are hunted, which takes an hour.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from .example_programs import OPTIONS, Hunted, hunted, program_of

HEAD = (
    "| program | trials | seconds | findings | the first after | combinations covered |",
    "|---|---:|---:|---:|---:|---:|",
)


def main(names: Sequence[str]) -> None:
    """Hunt the programs with these names, and print a row as soon as one has ended."""
    for line in lines_of(names or list(OPTIONS)):
        print(line, flush=True)


def lines_of(names: Sequence[str]) -> Iterator[str]:
    yield from HEAD
    for is_mended in (False, True):
        for name in names:
            with TemporaryDirectory() as folder:
                found = hunted(name, Path(folder), is_mended=is_mended)
            yield row_of(program_of(name, is_mended=is_mended), found)


def row_of(program: str, found: Hunted) -> str:
    result = found.result
    seconds = [each["found_seconds"] for each in result["findings"] if each["found_seconds"] is not None]
    first = f"{min(seconds):.0f} s" if seconds else ""
    coverage = result["coverage"]
    covered = f"{coverage['tried'] + coverage['equivalent']} of {coverage['possible']}"
    cells = (f"`{program}`", result["trials"], f"{result['seconds']:.0f}", len(result["findings"]), first, covered)
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main(sys.argv[1:])
