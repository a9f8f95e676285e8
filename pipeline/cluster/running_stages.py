"""The running stages of a Spark session, for the progress line."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from pyspark.sql import SparkSession

from ..sessions.session_kind import kind_of
from ..sessions.stage import Stage
from .spark_errors import SPARK_ERRORS


@contextmanager
def running_stages(spark: SparkSession) -> Generator[Callable[[], Sequence[Stage]], None, None]:
    """Yield a function that returns the running stages, or none if Spark does not respond."""
    with kind_of(spark).stages() as find_stages:

        def stages() -> Sequence[Stage]:
            try:
                return find_stages()
            except SPARK_ERRORS:
                # The call that waits for the job raises the error.
                return []

        yield stages
