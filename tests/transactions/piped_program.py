"""A process that gets one JSON object {"do": ...} a line, and responds with {"result": ...} or {"error": ...}."""

import json
import queue
import subprocess
import threading
from collections.abc import Sequence
from typing import Any

# A client needs seconds to notice that its broker has stopped, or that it is fenced.
RESPONSE_SECONDS_MAX = 60.0


class Refused(Exception):
    """The client's error, by name."""


class PipedProgram:
    """One process."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start the process."""
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8"
        )
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read_answers)
        self._reader.start()

    def do(self, what: str, **arguments: object) -> Any:
        """Return the result of one call. Raises Refused."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": what, **arguments}) + "\n")
        self._process.stdin.flush()
        line = self._answers.get(timeout=RESPONSE_SECONDS_MAX)
        assert line, f"the process ended without a response to {what}"
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["result"]

    def close(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()

    def _read_answers(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put("")
