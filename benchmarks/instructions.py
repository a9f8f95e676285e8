"""Instructions of the broker's process, as valgrind counts them: `python -m benchmarks --instructions`.

On a machine that others share, time says little of a step that saves a twentieth; instructions are the same each time,
to one in a hundred, or two where a read brings more or fewer requests at once. Those of the kernel are not among them,
and one that waits for memory counts like any other.
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
from .measurement import MIDDLE_PIPELINED, SMALL_PIPELINED, Figures
from .targets import BATCH_SETTING, FAUXKA, FAUXKA_BATCH, Target, running_in

# A request's share is the difference of two loads, so that what comes once is in neither.
FEW, MANY = 200, 1_200
CASES: tuple[tuple[str, tuple[str, ...], Case], ...] = (
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
    # Not counted: Python's bytecode is made.
    counted(case=replace(SMALL_PIPELINED, batches=FEW))
    results: dict[str, Figures] = {FAUXKA: {START: counted()}, FAUXKA_BATCH: {}}
    print(f"{START:45} {results[FAUXKA][START] / 1e6:8.1f} M instructions")
    for name, settings, case in CASES:
        few, many = (counted(settings, replace(case, batches=count)) for count in (FEW, MANY))
        results[name][case.name] = share = (many - few) / (MANY - FEW)
        print(f"{f'{name}: {case.name}, a request':45} {share / 1e3:8.1f} k instructions")
    return results


def counted(settings: tuple[str, ...] = (), case: Case | None = None) -> int:
    """Return the instructions of a broker from its start to its stop, which takes the load of a case in between."""
    # Without instructions that look whether there is another request, of which a quiet machine has more.
    words = [word for setting in ("fauxka.busy.poll.us=0", *settings) for word in ("-c", setting)]

    def command(port: int, ready_file: Path) -> list[str]:
        return [
            "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, "-m", "fauxka", "serve",
            "--port", str(port), "--admin-port", "off", "--ready-file", str(ready_file), *words,
        ]  # fmt: skip

    with TemporaryDirectory() as folder:
        with running_in(Path(folder), Target("counted", command)) as broker:
            if case is not None:
                load_program.produce(broker.port, "counted", case)
        said = (Path(folder) / "log").read_text()
    found = _COLLECTED.search(said)
    if found is None:
        raise RuntimeError(f"valgrind counted nothing: {said[-1000:]}")
    return int(found[1])
