"""Instructions of the broker's process, counted by valgrind: `python -m benchmarks --instructions`.

On a shared machine, time does not show a difference of 5 %. The number of instructions is the same in each run within 1
%, whatever other work the machine has: the load sends the requests in flight by one call and waits for all responses,
and the broker is that of counted_broker. The count excludes the kernel, and an instruction that waits for memory counts
as one.
"""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from . import load_program
from .load_program import Case
from .measurement import MIDDLE_PIPELINED, SMALL_ALONE, SMALL_PIPELINED, Figures
from .targets import BATCH_SETTING, FAUXKA, FAUXKA_BATCH, Target, running_in

# The cost of a request is the difference of two loads, which excludes one-time work.
FEW, MANY = 200, 1_200
CASES: tuple[tuple[str, tuple[str, ...], Case], ...] = (
    (FAUXKA, (), SMALL_ALONE),
    (FAUXKA, (), SMALL_PIPELINED),
    (FAUXKA_BATCH, (BATCH_SETTING,), SMALL_PIPELINED),
    (FAUXKA, (), MIDDLE_PIPELINED),
    (FAUXKA_BATCH, (BATCH_SETTING,), MIDDLE_PIPELINED),
)
START = "start and clean stop, admin API off"
_COLLECTED = re.compile(r"Collected : (\d+)")


def main() -> dict[str, Figures]:
    """Count, print and return instructions by target and case."""
    if shutil.which("valgrind") is None:
        raise SystemExit("benchmarks: --instructions needs valgrind (Debian package valgrind)")
    # Compiles Python's bytecode; the result is not used.
    count_instructions(case=replace(SMALL_PIPELINED, requests=FEW))
    results: dict[str, Figures] = {FAUXKA: {START: count_instructions()}, FAUXKA_BATCH: {}}
    print(f"{START:45} {results[FAUXKA][START] / 1e6:8.1f} M instructions")
    for name, settings, case in CASES:
        few, many = (count_instructions(settings, replace(case, requests=count)) for count in (FEW, MANY))
        results[name][case.name] = share = (many - few) / (MANY - FEW)
        print(f"{f'{name}: {case.name}, a request':45} {share / 1e3:8.1f} k instructions")
    return results


def count_instructions(settings: tuple[str, ...] = (), case: Case | None = None) -> int:
    """Return the instructions of a broker from start to stop, with the load of a case between them."""
    # Busy polling would add a varying number of instructions.
    words = [word for setting in ("fauxka.busy.poll.us=0", *settings) for word in ("-c", setting)]

    def command(port: int, ready_file: Path) -> list[str]:
        return [
            # Without it, each run has other collisions in dictionaries: up to a tenth of a request.
            "env", "PYTHONHASHSEED=0",
            "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, "-m",
            "benchmarks.counted_broker", "serve",
            "--port", str(port), "--admin-port", "off", "--ready-file", str(ready_file), *words,
        ]  # fmt: skip

    with TemporaryDirectory() as folder:
        with running_in(Path(folder), Target("counted", command)) as broker:
            if case is not None:
                load_program.produce_bursts(broker.port, "counted", case)
        log = (Path(folder) / "log").read_text()
    found = _COLLECTED.search(log)
    if found is None:
        raise RuntimeError(f"valgrind reported no count: {log[-1000:]}")
    return int(found[1])
