"""How the hunts of programs that others wrote start and stop them."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fauxka.testing import Broker

from ..ecosystem.programs import JAVA_OPTIONS, Program
from ..projects import run_in_project
from ..runtimes import need
from ..serving_process import environment
from .others.kept_programs import KeptPrograms
from .others.starts import Folders, Processes, ProgramEnded, wait_until_done

# A virtual machine starts in a second; on a busy machine it takes far longer.
WAIT_SECONDS_MAX = 120
COMPILE_SECONDS_MAX = 120
# Prints its process and its argument, until it is stopped. With "failing" it ends by itself.
PROGRAM = """
public class Waiting {
    public static void main(String[] arguments) throws Exception {
        var stopped = new java.util.concurrent.CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(stopped::countDown));
        System.out.println(ProcessHandle.current().pid() + " " + arguments[0]);
        if (arguments[0].equals("failing")) {
            throw new IllegalStateException("it fails");
        }
        stopped.await();
        System.out.println("stopped");
    }
}
"""


@pytest.fixture
def waiting(tmp_path: Path) -> Program:
    need("java", "javac")
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "Waiting.java").write_text(PROGRAM)
    command = ("javac", "-d", "classes", "Waiting.java")
    run_in_project(folder, environment(), *command, seconds_max=COMPILE_SECONDS_MAX)
    return Program(folder, ("java", *JAVA_OPTIONS, "-cp", "classes", "Waiting"))


def until(is_so: Callable[[], bool]) -> Callable[[], bool]:
    """Return the condition, which fails after WAIT_SECONDS_MAX."""
    end = time.monotonic() + WAIT_SECONDS_MAX

    def checked() -> bool:
        assert time.monotonic() < end
        return is_so()

    return checked


def run_waiting(kept: KeptPrograms, folder: Path, argument: str) -> tuple[str, ...]:
    """Start the program, wait for its first line, stop it, and return the words of its output."""
    folder.mkdir(exist_ok=True)
    with kept.started(folder, argument) as started:
        wait_until_done(started, until(lambda: argument in started.log_file.read_text()))
    return tuple(started.log_file.read_text().split())


@pytest.mark.java
def test_a_virtual_machine_is_kept_for_the_next_start_and_stopped_by_its_hooks(
    waiting: Program, tmp_path: Path
) -> None:
    kept = KeptPrograms(waiting)

    process, *first = run_waiting(kept, tmp_path / "first", "one")
    same_process, *second = run_waiting(kept, tmp_path / "second", "two")
    kept.end()

    assert first == ["one", "stopped"]
    assert second == ["two", "stopped"]
    assert process == same_process


@pytest.mark.java
def test_a_program_that_has_ended_by_itself_is_started_in_a_new_virtual_machine(
    waiting: Program, tmp_path: Path
) -> None:
    kept = KeptPrograms(waiting)

    with pytest.raises(ProgramEnded, match="it fails") as raised, kept.started(tmp_path, "failing") as started:
        wait_until_done(started, until(lambda: False))
    process, *output = run_waiting(kept, tmp_path, "next")
    kept.end()

    assert output == ["next", "stopped"]
    assert process != str(raised.value).split()[0]


def test_the_end_of_the_log_is_in_the_error_of_a_process_that_has_ended_by_itself(tmp_path: Path) -> None:
    program = Processes(Program(tmp_path, (sys.executable, "-c", "print('it fails')")))

    with pytest.raises(ProgramEnded, match="it fails"), program.started(tmp_path) as started:
        wait_until_done(started, until(lambda: False))


def test_a_broker_has_the_same_folder_at_each_start(tmp_path: Path) -> None:
    folders, first, second = Folders(tmp_path), Broker(), Broker()

    assert folders.of(first) == folders.of(first) != folders.of(second)
