"""What a process and all of its children have used, read from /proc."""

import os
from collections.abc import Iterator
from pathlib import Path

CLOCK_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
# Fields of /proc/PID/stat counted behind the command's name, which may hold spaces.
USER_TICKS_FIELD, SYSTEM_TICKS_FIELD = 11, 12


def process_ids(root: int) -> Iterator[int]:
    """Yield the process and its descendants; one that ends meanwhile is left out."""
    waiting = [root]
    while waiting:
        process_id = waiting.pop()
        yield process_id
        for children in Path(f"/proc/{process_id}/task").glob("*/children"):
            waiting += [int(child) for child in _text(children).split()]


def cpu_seconds(root: int) -> float:
    """Return the user and system time used so far; a tick is 10 ms."""
    return sum(own_cpu_seconds(process_id) for process_id in process_ids(root))


def own_cpu_seconds(process_id: int) -> float:
    """Return the user and system time that one process has used so far; 0 if it has ended."""
    fields = _text(Path(f"/proc/{process_id}/stat")).rpartition(")")[2].split()
    ticks = int(fields[USER_TICKS_FIELD]) + int(fields[SYSTEM_TICKS_FIELD]) if fields else 0
    return ticks / CLOCK_TICKS_PER_SECOND


def memory_mib(root: int) -> float:
    """Return the memory in use, pages shared with other processes counted by their share (Pss)."""
    kib = 0
    for process_id in process_ids(root):
        for line in _text(Path(f"/proc/{process_id}/smaps_rollup")).splitlines():
            if line.startswith("Pss:"):
                kib += int(line.split()[1])
    return kib / 1024


def peak_memory_mib(process_id: int) -> float:
    """Return the most memory that a process had at a time, shared pages counted whole (VmHWM)."""
    for line in _text(Path(f"/proc/{process_id}/status")).splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
