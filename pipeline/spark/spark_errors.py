"""Exceptions that pyspark raises when a job fails, and the reason of a failure as one line."""

from __future__ import annotations

import re

from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]
from pyspark.errors import PySparkException

# The last two are raised after the JVM has died, mostly of a full heap.
SPARK_ERRORS: tuple[type[Exception], ...] = (PySparkException, Py4JError, ConnectionError)

# The message of an exception of this package, within Spark's report about a failed worker.
_OURS = re.compile(r"\b(?:BadOption|BrokerError|RetriableError|DataLossError): (.+)$", re.MULTILINE)


def failure_reason(error: Exception) -> str:
    """Return the reason of a failed job in one line: the message of this package's exception, or Spark's first line."""
    if isinstance(error, ConnectionError):
        return "Spark's JVM has ended"
    text = str(error)
    ours = _OURS.findall(text)
    return ours[-1] if ours else text.partition("\n")[0] or "Spark failed without a reason"
