"""What pyspark raises where a job fails: its own errors, and those of the way to the virtual machine."""

from __future__ import annotations

from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]
from pyspark.errors import PySparkException

# The last two are raised where the virtual machine has died, of a full heap mostly.
SPARK_ERRORS: tuple[type[Exception], ...] = (PySparkException, Py4JError, ConnectionError)
