"""Log output of the command: plain lines on a terminal, otherwise one JSON object per line.

Lines for a full pipe are dropped and counted, so that a parent process that does not read cannot block the broker.
"""

from __future__ import annotations

import json
import logging
import os
import select
import stat
import sys
import time
from typing import TextIO

HUMAN_FORMAT = "%(asctime)s.%(msecs)03d %(levelname)-7s %(message)s"
LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
# Kafka's names of levels.
LEVEL_SYNONYMS = {"trace": "debug", "warn": "warning", "fatal": "error"}


# The control characters of Unicode, which a terminal could take for commands or for another line.
_ESCAPED = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))}


class HumanFormatter(logging.Formatter):
    """Formats a record as one line for a terminal, and its traceback, if any.

    Control characters are escaped, because a message may have a text of a client.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the line without the traceback."""
        return super().formatMessage(record).translate(_ESCAPED)


class JsonFormatter(logging.Formatter):
    """Formats a record as a JSON object: time, level, logger, message, and the traceback, if any."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line."""
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line = {
            "time": f"{seconds}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class PipeHandler(logging.Handler):
    """Writes lines to a pipe while it has room. Reports the number of dropped lines when it has room again."""

    def __init__(self, descriptor: int) -> None:
        """descriptor: of the pipe. It is not closed."""
        super().__init__()
        self._descriptor = descriptor
        # Not select.select, which takes no descriptor above 1023.
        assert sys.platform != "win32", "_is_pipe is false there"
        self._room = select.poll()
        self._room.register(descriptor, select.POLLOUT)
        self._left_out = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record as a line, or drop it if the pipe is full or its reader has closed it."""
        if not self._has_room():
            self._left_out += 1
            return
        if self._left_out:
            count, self._left_out = self._left_out, 0
            name, level = __name__, logging.WARNING
            note = logging.LogRecord(name, level, "", 0, "%d log lines left out: nobody read them", (count,), None)
            self._write(note)
        self._write(record)

    def _has_room(self) -> bool:
        """Whether PIPE_BUF bytes can be written without blocking."""
        assert sys.platform != "win32", "see __init__"
        return bool(self._room.poll(0))

    def _write(self, record: logging.LogRecord) -> None:
        assert sys.platform != "win32", "see __init__"
        try:
            line = (self.format(record) + "\n").encode(errors="backslashreplace")
            for start in range(0, len(line), select.PIPE_BUF):
                if start and not self._has_room():
                    break
                os.write(self._descriptor, line[start : start + select.PIPE_BUF])
        except OSError:
            self._left_out += 1


def level_of(name: str) -> int:
    """Return the level with this name, in any case. Raises KeyError."""
    lower = name.lower()
    return LEVELS[LEVEL_SYNONYMS.get(lower, lower)]


def set_up_logging(level: int, stream: TextIO | None = None) -> None:
    """Log records from level on to stream, standard error by default."""
    output = sys.stderr if stream is None else stream
    handler = PipeHandler(output.fileno()) if _is_pipe(output) else logging.StreamHandler(output)
    human = HumanFormatter(HUMAN_FORMAT, datefmt="%H:%M:%S")
    handler.setFormatter(human if output.isatty() else JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)


def _is_pipe(output: TextIO) -> bool:
    """Whether output is a pipe that can be asked for room. None can on Windows, where a full pipe blocks."""
    if sys.platform == "win32":
        return False
    try:
        return stat.S_ISFIFO(os.fstat(output.fileno()).st_mode)
    except (OSError, ValueError):
        return False
