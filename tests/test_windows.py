"""fauxka runs without the names that Windows lacks: tests/windows_names.py removes them.

`make check-platforms` finds names statically. These tests run the imports and calls of a start, a request and a stop.
"""

import asyncio
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from fauxka.broker.runtime.event_loop import SelectLoop
from fauxka.pipeline.read import file_store

from .brokers_by_hand import StartedByHand
from .serving_process import Ended, environment, run, serving, stop

pytestmark = pytest.mark.processes

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(__file__).with_name("windows_names.py")
COMMAND = (sys.executable, str(PROGRAM))
# Only a hang takes so long, on a machine that does much else too.
SECONDS_MAX = 300


@pytest.mark.slice
def test_broker_serves_and_stops(tmp_path: Path) -> None:
    with serving(tmp_path, "--admin-port", "0", "--seed-topic", "a", command=COMMAND) as broker:
        assert broker.admin is not None
        health = run("health", "--port", str(broker.port), command=COMMAND)
        verdict = run("verdict", "a", "--admin", broker.admin, command=COMMAND)
        ended = stop(broker, signal.SIGINT)

    assert (health.exit_code, verdict.exit_code) == (0, 0), verdict.log
    assert (ended.exit_code, "Traceback" in ended.log) == (0, False), ended.log
    assert "received SIGINT: stopping" in ended.log
    assert not broker.ready_file.exists()


@pytest.fixture
def by_hand(tmp_path: Path) -> StartedByHand:
    return StartedByHand(tmp_path)


def test_command_finds_the_broker_after_another_one_was_killed(by_hand: StartedByHand, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as used:
        unused_address = f"127.0.0.1:{used.getsockname()[1]}"
    folder = tmp_path / "fauxka"
    folder.mkdir()
    # A process of this id runs.
    killed = folder / f"{os.getpid()}.json"
    killed.write_text(json.dumps({"bootstrap": unused_address, "admin": unused_address, "pid": os.getpid()}))
    try:
        broker = by_hand.serve(command=COMMAND)
        ended = by_hand.found(f"{broker.admin}\n", command=COMMAND)
    finally:
        by_hand.close()

    assert (ended.exit_code, ended.output, ended.log) == (0, f"{broker.admin}\n", "")
    assert not killed.exists()


def test_folder_of_running_brokers_needs_no_variable(tmp_path: Path) -> None:
    program = "from fauxka.broker.lifecycle import ready_file; print(ready_file.running_brokers_folder())"

    ended = run_as_there(program, {"TMPDIR": str(tmp_path), "TEMP": "", "TMP": "", "XDG_RUNTIME_DIR": ""})

    assert ended.output.splitlines()[-1:] == [str(tmp_path / "fauxka")], ended.log


def test_demo_and_scenarios_run() -> None:
    for words in (("demo",), ("scenario", "run", "failover"), ("scenario", "run", "processed-twice")):
        ended = run(*words, command=COMMAND)

        assert (ended.exit_code, ended.log) == (0, ""), ended.log


def test_data_folder_is_refused_in_one_line(tmp_path: Path) -> None:
    ended = run("serve", "--port", "0", "--data-dir", str(tmp_path), command=COMMAND)

    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.log == f"fauxka: cannot use {tmp_path}: data folders need Linux or macOS\n"


def run_as_there(statement: str, variables: Mapping[str, str] | None = None, before: str = "") -> Ended:
    """Run a statement of Python without what Windows lacks, after the statement `before` with it."""
    program = ["import sys; sys.argv = ['', '--version']", "try:", "    import windows_names", "finally:"]
    ended = subprocess.run(
        [sys.executable, "-c", "\n".join([before, *program, f"    {statement}"])],
        cwd=PROGRAM.parent,
        env={name: value for name, value in environment(variables).items() if value},
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("import os; os.getuid()", "module 'os' has no attribute 'getuid'"),
        ("import os; os.open('.', os.O_RDONLY)", "PermissionError: [Errno 13] Permission denied: '.'"),
        ("import fcntl", "No module named 'fcntl'"),
    ],
)
def test_names_and_folders_are_missing(statement: str, error: str) -> None:
    ended = run_as_there(statement)

    assert error in ended.log


def test_each_module_of_the_tests_on_windows_can_be_imported() -> None:
    command = ["make", "--dry-run", "OS=Windows_NT", "PYTHON=python3", "test-portable"]
    steps = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    folders = [word for word in steps.splitlines()[-1].split() if word.startswith("tests/")]
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for folder in folders
        for path in sorted((ROOT / folder).rglob("test_*.py"))
    ]

    ended = run_as_there(
        f"from importlib import import_module; print([import_module(name).__name__ for name in {modules}])",
        before=f"import sys; sys.path.insert(0, {str(ROOT)!r}); import hypothesis, pytest",
    )

    assert len(modules) >= 50
    assert ended.output.splitlines()[-1:] == [str(modules)], ended.log


def test_signal_wakes_the_loop_of_windows_and_its_handler_is_removed() -> None:
    before = signal.getsignal(signal.SIGINT)
    loop = SelectLoop()

    async def wait_for_signal() -> None:
        stopping = asyncio.Event()
        loop.add_signal_handler(signal.SIGINT, stopping.set)
        signal.raise_signal(signal.SIGINT)
        await asyncio.wait_for(stopping.wait(), SECONDS_MAX)

    try:
        loop.run_until_complete(wait_for_signal())
    finally:
        loop.close()

    assert signal.getsignal(signal.SIGINT) is before
    assert signal.set_wakeup_fd(-1) == -1


def test_files_are_read_as_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "1.log").write_bytes(b"a\r\nb\x1ac")
    opened: list[int] = []
    open_file = os.open

    def note_flags(path: str, flags: int) -> int:
        opened.append(flags)
        # The flag of Windows is another one elsewhere.
        return open_file(path, os.O_RDONLY)

    monkeypatch.setattr(os, "O_BINARY", 0x8000, raising=False)
    importlib.reload(file_store)
    monkeypatch.setattr(os, "open", note_flags)
    monkeypatch.setattr(sys, "platform", "win32")

    with file_store.LocalFile(str(tmp_path / "1.log")) as file:
        pieces = (file.read_at(1, 3), file.read_at(0, 9))

    assert pieces == (b"\r\nb", b"a\r\nb\x1ac")
    assert opened == [os.O_RDONLY | 0x8000]
    monkeypatch.undo()
    importlib.reload(file_store)
