"""Runs Kafka's command-line tools, and writes what they print, one JSON object a line.

A line holds case, exit, output and errors. HOST:PORT stands for the address of the broker, FILE for that of a file, and
N for the epoch of the features, which is a number of records in Kafka. The frames of stack traces are left out, and the
options that a tool lists after a wrong one.
"""

from __future__ import annotations

import json
import re
import shlex
import tempfile
from itertools import takewhile
from typing import TextIO

from ...clients.console_tools import ConsoleTools

FILE = "FILE"
FEATURES_EPOCH = re.compile(r"^(Feature: .* Epoch: )\d+$")
FRAMES = ("\tat ", "\t... ")
OPTIONS = "Option  "


class ToolRecorder:
    """One run of the tools against one broker. situation: begins the names of the cases."""

    def __init__(self, tools: ConsoleTools, bootstrap: str, output: TextIO) -> None:
        """Lines go to output."""
        self.bootstrap = bootstrap
        self.situation = ""
        self._tools = tools
        self._output = output

    def run(self, tool: str, *commands: str, file: str = "") -> None:
        """Run a tool with each of the commands. file: the content of the file that FILE in a command stands for."""
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as written:
            written.write(file)
            written.flush()
            for command in commands:
                self._run(tool, command, written.name)

    def _run(self, tool: str, command: str, file: str) -> None:
        ended = self._tools.run(tool, *shlex.split(command.replace(FILE, file)))
        line = {
            "case": f"{self.situation}: {tool.rpartition('.')[2]} {command}",
            "exit": ended.exit,
            "output": self._lines(ended.output.replace(file, FILE)),
            "errors": self._lines(ended.errors.replace(file, FILE)),
        }
        self._output.write(json.dumps(line) + "\n")

    def _lines(self, text: str) -> list[str]:
        lines = takewhile(
            lambda line: not line.startswith(OPTIONS), text.replace(self.bootstrap, "HOST:PORT").splitlines()
        )
        return [FEATURES_EPOCH.sub(r"\1N", line) for line in lines if not line.startswith(FRAMES)]
