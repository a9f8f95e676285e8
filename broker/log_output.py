"""Log lines of the command: for a person on a terminal, one JSON object a line otherwise."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import TextIO

HUMAN_FORMAT = "%(asctime)s.%(msecs)03d %(levelname)-7s %(message)s"
LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
# As Kafka's users write them.
LEVEL_SYNONYMS = {"trace": "debug", "warn": "warning", "fatal": "error"}


class JsonFormatter(logging.Formatter):
    """One JSON object a record: time, level, logger, message, and the traceback where there is one."""

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


def level_of(name: str) -> int:
    """Return the level of that name, in any case; raises KeyError."""
    lower = name.lower()
    return LEVELS[LEVEL_SYNONYMS.get(lower, lower)]


def set_up_logging(level: int, stream: TextIO | None = None) -> None:
    """Send what fauxka logs from level on to stream, standard error by default."""
    output = sys.stderr if stream is None else stream
    handler = logging.StreamHandler(output)
    human = logging.Formatter(HUMAN_FORMAT, datefmt="%H:%M:%S")
    handler.setFormatter(human if output.isatty() else JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
