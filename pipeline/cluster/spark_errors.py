"""Exceptions that pyspark raises when a job fails, and the reason of a failure as one line."""

from __future__ import annotations

import re

from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]
from pyspark.errors import PySparkException

# The last two are raised after the JVM has died, mostly of a full heap.
SPARK_ERRORS: tuple[type[Exception], ...] = (PySparkException, Py4JError, ConnectionError)

# Those of a source that cannot be read. No connection to the JVM is broken: a signal may have done that.
SOURCE_ERRORS: tuple[type[Exception], ...] = (PySparkException, Py4JJavaError)

# The message of an exception of this package, within Spark's report about a failed worker.
_OURS = re.compile(
    r"\b(?:BadOption|BrokerError|ConnectionFailed|AuthenticationFailed|RetriableError|DataLossError): (.+)$",
    re.MULTILINE,
)
# An exception of Java with its message, in a line of its own.
_JAVA = re.compile(r"^(?:Caused by: |: )?(?:[a-z]\w*\.)+[A-Z][\w$]*: (.+)$", re.MULTILINE)
# A format or a driver without its jar. The innermost message of Java has only the name of a class.
_NO_FORMAT = re.compile(r"\[DATA_SOURCE_NOT_FOUND\] (.+?)(?: SQLSTATE: \w+)?$", re.MULTILINE)
_NO_CLASS = re.compile(r"\bjava\.lang\.ClassNotFoundException: ([\w.$-]+)$", re.MULTILINE)
# Spark's names of error conditions around a message.
_CONDITION = re.compile(r"^\[[\w.]+\] | SQLSTATE: \w+$")
# What only a programmer of Spark reads: calls of Py4J, tasks and stages, and names of classes.
_INTERNALS = re.compile(r"An error occurred while calling|Job aborted|Traceback|(?:[a-z]\w*\.){2,}[A-Z]\w*")
UNKNOWN_REASON = "Spark failed"


def failure_reason(error: Exception) -> str:
    """Return the reason of a failed job in one line without names of Java or Python.

    It is the message of this package's exception, else of the innermost exception of Java, else Spark's own.
    """
    if isinstance(error, ConnectionError):
        return "Spark's JVM has ended"
    text = str(error)
    no_format, no_class = _NO_FORMAT.search(text), _NO_CLASS.search(text)
    if no_format is not None:
        return no_format[1]
    if no_class is not None:
        return f"there is no class {no_class[1]}; is its jar in spark.jars?"
    candidates = [*_OURS.findall(text)[-1:], *reversed(_JAVA.findall(text)), text.partition("\n")[0]]
    words = (_CONDITION.sub("", candidate).strip() for candidate in candidates)
    return next((reason for reason in words if reason and not _INTERNALS.search(reason)), UNKNOWN_REASON)
