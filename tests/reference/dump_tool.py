"""Kafka's own reader of log files, org.apache.kafka.tools.DumpLogSegments, and what it complains of."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .kafka_process import SCRIPT

DUMP_CLASS = "org.apache.kafka.tools.DumpLogSegments"
DUMP_SECONDS_MAX = 120
SUFFIXES = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")

# It exits with 0 for most of what it finds, and says some of it on standard output.
COMPLAINT = re.compile(r"Exception|[Mm]ismatch|Non-consecutive|invalid bytes|Indexed offset|corrupt|\bat org\.")
# It expects offset 0 behind nothing, and is as surprised by each later segment of any Kafka.
HARMLESS = re.compile(r"Non-consecutive offsets in \S+\n  -1 is followed by (\d+)\n")


@dataclass(frozen=True)
class Dumped:
    """What the tool printed of the files of one folder, and the lines by which it complained."""

    output: str
    complaints: list[str]
    files: list[str]


def log_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.name.endswith(SUFFIXES))


def dumped(folder: Path) -> Dumped:
    """Have every file of a partition's folder printed, with all records."""
    return _run(log_files(folder), "--deep-iteration", "--print-data-log")


def offsets_decoded(folder: Path) -> Dumped:
    """Have the records of a partition of __consumer_offsets printed as what they mean."""
    return _run(sorted(folder.glob("*.log")), "--offsets-decoder")


def decoded(folder: Path, decoder: str) -> Dumped:
    """Have the records of a coordinator's log printed; decoder: the tool's option for them."""
    return _run(sorted(folder.glob("*.log")), decoder)


def indexes_checked(folder: Path) -> Dumped:
    """Have the indexes of a partition's folder checked."""
    indexes = [file for file in log_files(folder) if file.suffix in (".index", ".timeindex")]
    return _run(indexes, "--index-sanity-check")


def _run(files: list[Path], *options: str) -> Dumped:
    assert files, "nothing to be dumped"
    command = [str(SCRIPT), "tool", DUMP_CLASS, *options, "--files", ",".join(map(str, files))]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=DUMP_SECONDS_MAX, check=False)
    output = ended.stdout.replace(f"{files[0].parent}/", "")
    complaints = HARMLESS.sub("", ended.stderr).splitlines()
    complaints += [line for line in output.splitlines() if COMPLAINT.search(line)]
    if ended.returncode != 0:
        complaints.append(f"ended with {ended.returncode}")
    printed = [line.removeprefix("Dumping ") for line in output.splitlines() if line.startswith("Dumping ")]
    return Dumped(output, complaints, printed)
