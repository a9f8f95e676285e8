"""The running stages of a Spark session, from its status store, which works without the web UI.

The public status tracker of pyspark reads the same store. It returns the stages and the numbers of their tasks, but not
the rows and bytes of the progress line; with it each stage would be looked up twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, cast

from pyspark.sql import SparkSession

from .progress import Stage
from .spark_errors import SPARK_ERRORS


class _StageData(Protocol):
    """org.apache.spark.status.api.v1.StageData."""

    def stageId(self) -> int: ...
    def numTasks(self) -> int: ...
    def numCompleteTasks(self) -> int: ...
    def inputRecords(self) -> int: ...
    def shuffleReadRecords(self) -> int: ...
    def shuffleWriteBytes(self) -> int: ...


class _Stages(Protocol):
    """A Seq of Scala."""

    def size(self) -> int: ...
    def apply(self, index: int) -> _StageData: ...


def running_stages(spark: SparkSession) -> Callable[[], Sequence[Stage]]:
    """Return a function that returns the running stages, or none if Spark does not respond."""
    store: object = getattr(spark.sparkContext, "_jsc").sc().statusStore()  # noqa: B009
    active = cast(Callable[[], _Stages], getattr(store, "activeStages"))  # noqa: B009

    def stages() -> Sequence[Stage]:
        try:
            found = active()
            return [_stage(found.apply(index)) for index in range(found.size())]
        except SPARK_ERRORS:
            # The call that waits for the job raises the error.
            return []

    return stages


def _stage(data: _StageData) -> Stage:
    return Stage(
        number=data.stageId(),
        tasks=data.numTasks(),
        tasks_done=data.numCompleteTasks(),
        rows=data.inputRecords() + data.shuffleReadRecords(),
        bytes_shuffled=data.shuffleWriteBytes(),
    )
