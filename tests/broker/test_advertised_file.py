"""`serve --advertised-file`: a broker that waits for the addresses that it advertises."""

import os
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fauxka.broker.config.config_types import ConfigError
from fauxka.broker.lifecycle import advertised_file
from fauxka.broker.lifecycle.advertised_file import FILE_BYTES_MAX, wait_for_advertised_listeners

from ..serving_process import COMMAND, START_SECONDS_MAX, run

pytestmark = pytest.mark.processes

ADVERTISED = "PLAINTEXT://broker.example:19092"
LISTENER = ("-c", "listeners=PLAINTEXT://127.0.0.1:0")


@contextmanager
def waiting(file: Path, *arguments: str) -> Generator[subprocess.Popen[str], None, None]:
    """Run a broker that waits for the file, for the length of the block."""
    command = [*COMMAND, "serve", *LISTENER, "--admin-port", "off", "--advertised-file", str(file), *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_until_read(file: Path, content: bytes = b"") -> None:
    """Return when the broker waits for the file and reads it once. It has content then, and is missing afterwards."""
    os.mkfifo(file)
    # Returns when the other end is opened.
    with file.open("wb") as pipe:
        file.unlink()
        pipe.write(content)


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_broker_advertises_what_a_file_holds_that_appears_after_its_start(tmp_path: Path) -> None:
    file = tmp_path / "advertised"
    with waiting(file) as process:
        wait_until_read(file)
        file.write_text(f"{ADVERTISED}\n")

        assert first_line(process) == ADVERTISED


def test_half_a_line_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "advertised"
    with waiting(file) as process:
        wait_until_read(file, b"PLAINTEXT://broker.exa")
        file.write_text(f"{ADVERTISED}\n")

        assert first_line(process) == ADVERTISED


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_ends_the_wait_with_exit_code_0(tmp_path: Path, number: signal.Signals) -> None:
    with waiting(tmp_path / "none") as process:
        # The handlers of the wait are installed; before, the signal's default action ends the process.
        wait_until_read(tmp_path / "none")
        process.send_signal(number)

        _, log = process.communicate(timeout=START_SECONDS_MAX)

        assert (process.returncode, log) == (0, "")


def test_command_line_takes_precedence_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "advertised"
    file.write_text(f"{ADVERTISED}\n")
    other = "PLAINTEXT://other.example:9"

    with waiting(file, "-c", f"advertised.listeners={other}") as process:
        assert first_line(process) == other


def test_wrong_addresses_in_the_file_are_one_line_and_exit_code_2(tmp_path: Path) -> None:
    file = tmp_path / "advertised"
    file.write_text("nonsense\n")

    ended = run("serve", *LISTENER, "--advertised-file", str(file))

    assert (ended.exit_code, ended.output) == (2, "")
    assert "Unable to parse nonsense to a broker endpoint: expected NAME://host:port" in ended.log
    assert ended.log.count("\n") == 1


def test_folder_in_its_place_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    ended = run("serve", *LISTENER, "--advertised-file", str(tmp_path))

    assert (ended.exit_code, ended.output) == (2, "")
    assert "--advertised-file: " in ended.log
    assert ended.log.count("\n") == 1


def test_file_whose_permissions_are_set_after_its_creation_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "advertised"
    file.write_text(f"{ADVERTISED}\n")
    refusals = [PermissionError(13, "Permission denied")]

    # Root may read any file.
    def refusing(path: str, mode: str) -> object:
        if refusals:
            raise refusals.pop()
        return Path(path).open(mode)

    monkeypatch.setattr(advertised_file, "open", refusing, raising=False)

    assert wait_for_advertised_listeners(str(file), ()) == [ADVERTISED]
    assert not refusals


def may_not(path: str, mode: int) -> bool:
    return False


def test_file_that_may_never_be_read_ends_the_wait_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "advertised"
    file.write_text(f"{ADVERTISED}\n")

    def refusing(path: str, mode: str) -> object:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(advertised_file, "WAIT_SECONDS_MAX", 0.0)
    monkeypatch.setattr(advertised_file, "open", refusing, raising=False)
    monkeypatch.setattr(os, "access", may_not)

    with pytest.raises(ConfigError, match=r"no line in .* after 0 s: Permission denied$"):
        wait_for_advertised_listeners(str(file), ())


def test_file_that_never_appears_ends_the_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advertised_file, "WAIT_SECONDS_MAX", 0.1)

    with pytest.raises(ConfigError, match=f"no line in {tmp_path}/none after 0 s"):
        wait_for_advertised_listeners(f"{tmp_path}/none", [signal.SIGTERM])


def test_endless_line_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"x" * FILE_BYTES_MAX)

    with pytest.raises(ConfigError, match="more than 65536 bytes"):
        wait_for_advertised_listeners(f"{tmp_path}/long", [signal.SIGTERM])


def test_handlers_of_signals_are_restored(tmp_path: Path) -> None:
    (tmp_path / "advertised").write_text(f"{ADVERTISED}\n")
    before = signal.getsignal(signal.SIGTERM)

    wait_for_advertised_listeners(f"{tmp_path}/advertised", [signal.SIGTERM])

    assert signal.getsignal(signal.SIGTERM) is before
