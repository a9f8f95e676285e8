"""An audit of a larger log takes no more memory of the driver."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]

REPOSITORY = Path(__file__).parents[2]
SECONDS_MAX = 1700
SMALL, LARGE = 1_000_000, 4_000_000
# Runs of the same size differ by a few percent.
NOISE = 1.2
# A heap of 512 MB, and the memory that a JVM needs beside it.
MACHINE_MIB_MAX = 1100


def test_the_driver_s_memory_is_the_same_for_four_times_the_records(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    command = (sys.executable, "-m", "benchmarks", "--pipeline", "scale", "--records", f"{SMALL},{LARGE}")

    ended = subprocess.run(
        [*command, "--json", str(figures)], cwd=REPOSITORY, capture_output=True, text=True, timeout=SECONDS_MAX
    )

    # The command compares each verdict with the planted copies and fails if they differ.
    assert ended.returncode == 0, ended.stdout + ended.stderr
    small, large = [
        run for name, run in json.loads(figures.read_text()).items() if name.startswith("sequences and events")
    ]
    assert large["driver's Python MiB"] < NOISE * small["driver's Python MiB"]
    assert large["driver's virtual machine MiB"] < NOISE * small["driver's virtual machine MiB"]
    assert large["driver's virtual machine MiB"] < MACHINE_MIB_MAX
    assert large["workers MiB"] < NOISE * small["workers MiB"]
