"""Rounds of kills in folders: their counts, and what is left of a folder whose rounds failed."""

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Self, TypeVar

# A folder is checked and replaced after this many rounds, to find a failure close to its cause.
ROUNDS_OF_A_FOLDER_MAX = 20
TOPIC_CONFIGS = {
    # Segments roll every few milliseconds, with snapshots and indexes.
    "internal.segment.bytes": "65536",
    "index.interval.bytes": "512",
    "segment.index.bytes": "4096",
}

Result = TypeVar("Result")


@dataclass(slots=True)
class Counts:
    """The counts of some rounds. Each field of a subclass is a number."""

    def add(self, other: Self) -> None:
        """Add the counts of other rounds."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


CountsOfRounds = TypeVar("CountsOfRounds", bound=Counts)


def run_folders(
    tally: CountsOfRounds, rounds: int, seed: int, run_folder: Callable[[int, int], CountsOfRounds]
) -> CountsOfRounds:
    """Run rounds in several folders, and add their counts to tally. run_folder: takes the rounds and seed of one."""
    for first in range(0, rounds, ROUNDS_OF_A_FOLDER_MAX):
        tally.add(run_folder(min(ROUNDS_OF_A_FOLDER_MAX, rounds - first), seed + first))
    return tally


def in_new_folder(variant: str, rounds: int, seed: int, play: Callable[[Path], Result]) -> Result:
    """Call play with a new folder. Raises AssertionError with variant, rounds and seed; the folder is kept then."""
    folder = Path(tempfile.mkdtemp(prefix=f"fauxka-{variant}-{seed}-"))
    try:
        result = play(folder)
    except BaseException as error:
        words = f"--variant {variant} --rounds {rounds} --seed {seed}"
        raise AssertionError(f"{error}\nagain by: python -m tests.crash {words}\nkept: {folder}") from error
    shutil.rmtree(folder)
    return result
