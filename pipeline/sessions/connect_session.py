"""A session of Spark Connect: this process sends queries, and the driver is on the server."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from .stage import Stage
from .worker_process import task_of

if TYPE_CHECKING:
    from pyspark.sql.connect.shell.progress import ProgressHandler, StageInfo

Input = TypeVar("Input")

# More than a cluster has cores, and few enough to count them in no time.
_ROWS_TO_COUNT_TASKS = 100_000


class ConnectSession:
    """A session of Spark Connect; session_kind.SessionKind says what its methods do."""

    def __init__(self, spark: SparkSession) -> None:
        """spark: of Spark Connect."""
        self._spark = spark

    def task_count(self) -> int:
        """Count the tasks of a range, of which the server has one for each core."""
        numbers = self._spark.range(_ROWS_TO_COUNT_TASKS).select(f.spark_partition_id().alias("task"))
        return max(numbers.distinct().count(), 1)

    def send_archive(self, write_archive: Callable[[], Path]) -> None:
        """Add the archive to the session, for its tasks and for the data source on the driver."""
        self._spark.addArtifacts(str(write_archive()), pyfile=True)

    @contextmanager
    def stages(self) -> Generator[Callable[[], Sequence[Stage]], None, None]:
        """Yield a function that returns the stages of the latest report of the server about a query."""
        reported: list[Stage] = []

        def report(stages: Iterable[StageInfo] | None, done: bool, **_: object) -> None:
            # The server does not count the bytes that a Python data source reads.
            running = () if done else stages or ()
            reported[:] = [
                Stage(one.stage_id, one.num_tasks, one.num_completed_tasks) for one in running if not one.done
            ]

        handler = cast("ProgressHandler", report)
        self._spark.registerProgressHandler(handler)
        try:
            yield lambda: tuple(reported)
        finally:
            self._spark.removeProgressHandler(handler)

    def rows_of_tasks(
        self, inputs: Sequence[Input], read: Callable[[Input], Iterator[pa.RecordBatch]], schema: str | StructType
    ) -> DataFrame:
        """Send the inputs as rows of one partition, of which Spark deals one to each task.

        Rows of several partitions would be dealt from random places, and some tasks would get several. The hint keeps
        Spark from broadcasting the rows in a join: it takes them for as few as the inputs.
        """
        contents = [pickle.dumps(one) for one in inputs]
        row = self._spark.createDataFrame([(contents,)], "inputs array<binary>")
        dealt = row.select(f.explode("inputs").alias("input")).repartition(max(len(contents), 1))
        return dealt.mapInArrow(task_of(read), schema).hint("merge")
