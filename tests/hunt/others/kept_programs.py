"""Programs of Java whose virtual machine is kept from trial to trial: most of a trial would be its start."""

from __future__ import annotations

import subprocess
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from ...ecosystem.programs import Program
from ...installations import CACHE, installed
from ...projects import run_in_project
from ...serving_process import environment

SOURCE = Path(__file__).with_name("KeptPrograms.java")
COMPILE_SECONDS_MAX = 120
# Before each response: the virtual machine prints warnings of its own to its standard output, too.
RESPONSE = "response: "


def compiled() -> Path:
    """Return the folder of the compiled class."""
    folder = CACHE / "kept_programs"

    def compile_source() -> None:
        folder.mkdir()
        command = ("javac", "-nowarn", "-d", str(folder), str(SOURCE))
        run_in_project(folder, environment(), *command, seconds_max=COMPILE_SECONDS_MAX)

    return installed(folder, SOURCE.read_text(), compile_source)


@dataclass(frozen=True, slots=True)
class VirtualMachine:
    """A virtual machine that runs a program, or waits to run one."""

    process: subprocess.Popen[str]

    def ask(self, *words: str) -> str:
        """Send a command, and return the response; "" if the virtual machine has ended."""
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            print(*words, sep="\t", file=self.process.stdin, flush=True)
        except OSError:
            return ""
        responses = (line for line in self.process.stdout if line.startswith(RESPONSE))
        return next(responses, "").removeprefix(RESPONSE).strip()

    def end(self) -> None:
        """Kill the virtual machine."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            with suppress(OSError):
                stream.close()


@dataclass(frozen=True, slots=True)
class StartedMain:
    """A program in a virtual machine that is kept."""

    machine: VirtualMachine
    log_file: Path

    def has_ended(self) -> bool:
        """Return whether it, or its virtual machine, has ended by itself."""
        return self.machine.ask("status") != "running"


@dataclass(frozen=True, slots=True)
class KeptPrograms:
    """A program of Java. A start uses a virtual machine whose last program was stopped cleanly, or a new one."""

    program: Program
    _idle: list[VirtualMachine] = field(default_factory=list[VirtualMachine])
    _all: list[VirtualMachine] = field(default_factory=list[VirtualMachine])

    @contextmanager
    def started(self, folder: Path, *arguments: str) -> Generator[StartedMain]:
        """Run it for the length of the block, and then end it by its shutdown hooks.

        folder: of its log. The virtual machine is killed if the block raises an error, or if threads are left.
        """
        log_file = folder / "log"
        log_file.write_bytes(b"")
        machine = self._idle.pop() if self._idle else self._new(log_file)
        is_clean = False
        try:
            machine.ask("start", str(log_file), *arguments)
            yield StartedMain(machine, log_file)
            is_clean = machine.ask("stop") == "clean"
        finally:
            if is_clean:
                self._idle.append(machine)
            else:
                machine.end()

    def end(self) -> None:
        """Kill the virtual machines, those of programs that hang too."""
        for machine in self._all:
            machine.end()

    def _new(self, log_file: Path) -> VirtualMachine:
        """Start a virtual machine. log_file: has its own errors, such as too little memory."""
        java, *options, _, _, main = self.program.command
        opened = ("--add-opens", "java.base/java.lang=ALL-UNNAMED")
        command = (java, *opened, *options, "-cp", f"classes:jars/*:{compiled()}", "KeptPrograms", main)
        with log_file.open("ab") as output:
            process = subprocess.Popen(
                command,
                cwd=self.program.folder,
                env=environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                text=True,
            )
        machine = VirtualMachine(process)
        self._all.append(machine)
        return machine
