"""CPU time and memory of a process and its descendants, read from /proc."""

import os
from collections.abc import Iterator
from pathlib import Path

CLOCK_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
# Fields of /proc/PID/stat after the command's name, which may contain spaces.
USER_TICKS_FIELD, SYSTEM_TICKS_FIELD = 11, 12


def process_ids(root: int) -> Iterator[int]:
    """Yield the process and its descendants; processes that end meanwhile are skipped."""
    waiting = [root]
    while waiting:
        process_id = waiting.pop()
        yield process_id
        waiting += _children(process_id)


def _children(process_id: int) -> list[int]:
    try:
        texts = [_text(children) for children in Path(f"/proc/{process_id}/task").glob("*/children")]
    except (FileNotFoundError, ProcessLookupError):
        # The process ended after glob had looked whether the folder is there.
        return []
    return [int(child) for text in texts for child in text.split()]


def cpu_seconds(root: int) -> float:
    """Return the user and system time of the tree so far, in steps of 10 ms."""
    return sum(own_cpu_seconds(process_id) for process_id in process_ids(root))


def own_cpu_seconds(process_id: int) -> float:
    """Return the user and system time of one process so far; 0 if it has ended."""
    fields = _text(Path(f"/proc/{process_id}/stat")).rpartition(")")[2].split()
    ticks = int(fields[USER_TICKS_FIELD]) + int(fields[SYSTEM_TICKS_FIELD]) if fields else 0
    return ticks / CLOCK_TICKS_PER_SECOND


def program_of(process_id: int) -> str:
    """Return the name of a process's program, such as java; "" if it has ended."""
    return _text(Path(f"/proc/{process_id}/comm")).strip()


def memory_mib(root: int) -> float:
    """Return the memory of the tree, with shared pages divided by their users (Pss)."""
    kib = 0
    for process_id in process_ids(root):
        for line in _text(Path(f"/proc/{process_id}/smaps_rollup")).splitlines():
            if line.startswith("Pss:"):
                kib += int(line.split()[1])
    return kib / 1024


def resident_mib(process_id: int) -> float:
    """Return the resident memory of a process, including all shared pages (VmRSS); 0 if it has ended."""
    return _status_mib(process_id, "VmRSS")


def peak_memory_mib(process_id: int) -> float:
    """Return the peak memory of a process, including all shared pages (VmHWM); 0 if it has ended."""
    return _status_mib(process_id, "VmHWM")


def _status_mib(process_id: int, name: str) -> float:
    for line in _text(Path(f"/proc/{process_id}/status")).splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / 1024
    return 0


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
