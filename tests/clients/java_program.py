"""A Java program behind a pipe: JSON lines in, JSON lines out, one virtual machine for many questions."""

import json
import queue
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..reference.kafka_process import reference_jars
from .client import STEP_SECONDS_MAX

FOLDER = Path(__file__).parent / "java"

# The first answer comes after the start of the virtual machine and the compilation of the program.
RESPONSE_SECONDS_MAX = 2 * STEP_SECONDS_MAX


class JavaProgram:
    """A program that answers each line with a line."""

    def __init__(self, name: str, *arguments: str, version: str | None = None) -> None:
        """name: of the program's class and file. version: of the Kafka whose jars it has, None for the default one."""
        self._process = subprocess.Popen(
            ["java", "-cp", f"{reference_jars(version)}/*", str(FOLDER / f"{name}.java"), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read_answers, name=f"{name}-answers")
        self._reader.start()

    def close(self) -> None:
        """End the program by the end of its input, and wait for it."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(STEP_SECONDS_MAX)
        self._reader.join(STEP_SECONDS_MAX)
        self._process.stdout.close()

    def ask(self, question: Mapping[str, object]) -> dict[str, Any]:
        """Return the answer to one question."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._answers.get(timeout=RESPONSE_SECONDS_MAX)
        assert line, f"the program ended instead of answering {question}"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _read_answers(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put("")
