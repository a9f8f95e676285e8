"""Spark's log, which goes to a temporary file while a command runs, and the line that a failure of Spark becomes.

Standard error then has only the lines of the command. The file is kept if Spark fails.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from pyspark.sql import SparkSession

from ..bad_option import BadOption
from ..sessions.session_kind import is_connect
from .spark_errors import SPARK_ERRORS, failure_reason
from .stop_signals import StopSignals

_HEAP_IS_FULL = "java.lang.OutOfMemoryError"
_HEAP_ADVICE = "Spark ran out of memory; set -c spark.driver.memory=2g, or spark.executor.memory on a cluster"


# Loggers of pyspark 4 that write each failed query to standard error, as JSON with a stack trace.
_QUERY_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")

# The exit code of a command that a signal has ended, as shells report it, is this plus the signal's number.
_SIGNAL_EXIT = 128


@contextmanager
def logged_session(command: str, start: Callable[[], SparkSession]) -> Generator[SparkSession, None, None]:
    """Yield a session whose log goes to a file, and stop it. command: for the name of the file.

    A failure of Spark within the block becomes a BadOption with the reason and the name of the file. One that follows a
    SIGINT or SIGTERM is none: it becomes a SystemExit, because Python's connection to the JVM breaks in any call.
    """
    # Without delete=True, because the file is kept if Spark fails.
    with (
        tempfile.NamedTemporaryFile(prefix=f"fauxka-{command}-", suffix=".log", delete=False) as log,
        StopSignals() as signals,
    ):
        try:
            with _logging_into(log.name):
                with _standard_error_in(log.file), signals.waiting():
                    spark = start()
                if is_connect(spark):
                    _exit_by_sigterm()
                try:
                    signals.act()
                    yield spark
                finally:
                    spark.stop()
        except SPARK_ERRORS as error:
            if signals.first is not None:
                os.unlink(log.name)
                raise SystemExit(_SIGNAL_EXIT + signals.first) from error
            text = Path(log.name).read_text(errors="replace")
            reason = _HEAP_ADVICE if _HEAP_IS_FULL in text else failure_reason(error)
            if not text:
                # A Connect server has its log.
                os.unlink(log.name)
                raise BadOption(reason) from error
            raise BadOption(f"{reason} (Spark's log: {log.name})") from error
        except BaseException:
            os.unlink(log.name)
            raise
    os.unlink(log.name)


def _exit_by_sigterm() -> None:
    """Let SIGTERM stop the session: a Connect server goes on with the query of a process that has just ended."""
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(_SIGNAL_EXIT + number))


@contextmanager
def _standard_error_in(log: IO[bytes]) -> Generator[None, None, None]:
    """Redirect file descriptor 2 to a file within the block; programs started in it inherit the file."""
    sys.stderr.flush()
    kept = os.dup(2)
    os.dup2(log.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


@contextmanager
def _logging_into(file: str) -> Generator[None, None, None]:
    """Write log records to a file within the block; py4j logs the traceback of every error that it raises."""
    for name in _QUERY_LOGGERS:
        # The command reports the failure itself.
        logging.getLogger(name).setLevel(logging.CRITICAL)
    handler = logging.FileHandler(file)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()
