"""A hunt that a person, or CI, stops."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.processes

PRODUCER = Path(__file__).parent / "order_producer.py"
# After two runs without faults and one trial, it hangs with a child.
PROGRAM = """
echo $$ >> {folder}/starts
{python} {producer} {kind} || exit 1
[ $(wc -l < {folder}/starts) -gt 3 ] || exit 0
sleep 600 &
echo $! > {folder}/child
wait
"""
# A shell starts what runs in its background, such as a job of CI, with SIGINT ignored.
COMMAND = """
import signal

from fauxka.__main__ import main

signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""


@pytest.mark.parametrize(("number", "kind"), [(signal.SIGINT, "idempotent"), (signal.SIGTERM, "plain")])
def test_a_stopped_hunt_reports_what_was_tried_and_leaves_no_process(
    number: signal.Signals, kind: str, tmp_path: Path
) -> None:
    program = PROGRAM.format(folder=tmp_path, python=sys.executable, producer=PRODUCER, kind=kind)
    found = tmp_path / "found"
    words = ("hunt", "--topic", "orders", "-o", str(found), "--timeout", "300", "--", "sh", "-c", program)
    hunt = subprocess.Popen(
        (sys.executable, "-c", COMMAND, *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    child = awaited_number(tmp_path / "child")

    hunt.send_signal(number)
    output, log = hunt.communicate(timeout=20)

    is_found = kind == "plain"
    assert hunt.returncode == int(is_found), log
    assert ("not repeated" in output) == is_found
    files = ["curl.sh", "output.txt", "rules.json", "test_finding_1.py"]
    assert sorted(file.name for file in found.glob("1/*")) == files * is_found
    assert "\n1 trial in " in output, output + log
    assert not is_running(child)


FUNCTION = """
import signal, threading
from pathlib import Path
from fauxka.testing import hunt
from tests.hunt.programs import has_met_a_fault, idempotent

signal.signal(signal.SIGINT, signal.default_int_handler)

def wait_for_ever(broker):
    idempotent(broker)
    if has_met_a_fault(broker):
        Path({file!r}).write_text("1")
        threading.Event().wait(100)

hunt(wait_for_ever, topics=["orders"], timeout_seconds=100)
"""


def test_a_stopped_hunt_of_a_function_does_not_wait_for_it_and_stops_its_caller(tmp_path: Path) -> None:
    program = FUNCTION.format(file=str(tmp_path / "waits"))
    root = Path(__file__).parent.parent.parent
    hunt = subprocess.Popen([sys.executable, "-c", program], cwd=root, stderr=subprocess.PIPE, text=True)
    awaited_number(tmp_path / "waits")

    hunt.send_signal(signal.SIGINT)
    _, log = hunt.communicate(timeout=20)

    assert hunt.returncode != 0
    report = log.partition("KeyboardInterrupt: ")[2]
    assert "0 trials in " in report, log


def is_running(process: int) -> bool:
    """Return whether a process runs; one that has ended may be there until its parent asks for it."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes() != b""
    except FileNotFoundError:
        return False


def awaited_number(file: Path) -> int:
    """Return the number in a file that appears."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if file.exists() and file.read_text().strip():
            return int(file.read_text())
        time.sleep(0.05)
    raise AssertionError(f"{os.fspath(file)} did not appear")
