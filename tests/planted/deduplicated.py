"""The events that `fauxka dedup` keeps of a planted log, after its driver was killed in the middle of micro-batches."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

import pyarrow.parquet as parquet

from ..serving_process import environment
from .audited import MASTER, SETTINGS
from .events import HEADER, Found
from .log_folder import write_log
from .planted_log import PlantedLog

TOPIC = "orders"
COMMAND = (sys.executable, "-m", "fauxka.pipeline", "dedup")
# About the duration of a micro-batch.
KILL_SECONDS_MAX = 3.0
RUN_SECONDS_MAX = 600
POLL_SECONDS = 0.05


def compare_kept_events(log: PlantedLog, folder: Path, kills: int) -> tuple[Counter[Found], Counter[Found]]:
    """Return each event of a topic once, and the events in the output of dedup.

    log: all its events are committed. folder: a new one. kills: how often the driver and its JVM are killed before the
    run that ends.
    """
    written, out = write_log(log, folder), folder / "once"
    settings = [word for key, value in SETTINGS.items() for word in ("-c", f"{key}={value}")]
    source = ("--from", TOPIC, "--path", str(written.log), "--event-id", f"header:{HEADER}")
    command = [*COMMAND, *source, "--to", str(out), "--available-now", "--no-why", "--master", MASTER, *settings]
    for _ in range(kills):
        _run_and_kill(command, out, log.random)
    subprocess.run(command, env=environment(), check=True, capture_output=True, timeout=RUN_SECONDS_MAX)
    table = parquet.read_table(out, columns=["event_id"])  # pyright: ignore[reportUnknownMemberType]
    sent = {str(line["event_id"]) for line in log.ledger if line["topic"] == TOPIC}
    kept = (str(event_id) for event_id in table.column("event_id").to_pylist())
    return Counter(map(_kept, sent)), Counter(map(_kept, kept))


def _kept(event_id: str) -> Found:
    return Found("dedup", "event_kept_once", None, TOPIC, None, None, event_id=event_id)


def _run_and_kill(command: list[str], out: Path, random: Random) -> None:
    """Start the command, and kill it and its JVM at a random moment after it has written to its checkpoint."""
    began = time.time()
    with subprocess.Popen(
        command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        deadline = time.monotonic() + RUN_SECONDS_MAX
        while process.poll() is None and _newest(out) < began:
            assert time.monotonic() < deadline, f"nothing is written to {out} after {RUN_SECONDS_MAX} s"
            time.sleep(POLL_SECONDS)
        time.sleep(random.uniform(0, KILL_SECONDS_MAX))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def _newest(folder: Path) -> float:
    """Return the modification time of the newest file in a folder; 0 without one."""
    return max((os.path.getmtime(path) for path in folder.rglob("*") if path.exists()), default=0)
