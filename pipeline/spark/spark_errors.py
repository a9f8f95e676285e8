"""What pyspark raises where a job fails: its own errors, and those of the way to the virtual machine; why, in words."""

from __future__ import annotations

import re

from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]
from pyspark.errors import PySparkException

# The last two are raised where the virtual machine has died, of a full heap mostly.
SPARK_ERRORS: tuple[type[Exception], ...] = (PySparkException, Py4JError, ConnectionError)

# Our own words, in what Spark makes of an exception in one of its workers.
_OURS = re.compile(r"\b(?:BadOption|BrokerError|PassingError|LostOffsets): (.+)$", re.MULTILINE)


def words_of(error: Exception) -> str:
    """Return why a job failed in one line: our own words, else the first line of Spark's."""
    if isinstance(error, ConnectionError):
        return "Spark's virtual machine has ended"
    text = str(error)
    ours = _OURS.findall(text)
    return ours[-1] if ours else text.partition("\n")[0] or "Spark failed and does not say why"
