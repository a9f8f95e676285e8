"""A session whose driver is a JVM of this process.

The running stages come from the status store, which works without the web UI. The public status tracker of pyspark
reads the same store. It returns the stages and the numbers of their tasks, but not the rows and bytes of the progress
line; with it each stage would be looked up twice.
"""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Protocol, TypeVar, cast

import pyarrow as pa
import pyspark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from .stage import Stage
from .worker_process import INPUT_SCHEMA, task_of

Input = TypeVar("Input")

_FOLDER_OF_STREAMS = "streaming_job"


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


class ClassicSession:
    """A session with a SparkContext; session_kind.SessionKind says what its methods do."""

    def __init__(self, spark: SparkSession) -> None:
        """spark: not of Spark Connect."""
        self._spark = spark
        self._context = spark.sparkContext

    def task_count(self) -> int:
        """Return the default parallelism."""
        return self._context.defaultParallelism

    def send_archive(self, write_archive: Callable[[], Path]) -> None:
        """Add the archive to the job, unless tasks run in the JVM of the driver or the job already has it."""
        if is_local(str(self._context.master)):
            return
        archive = write_archive()
        if not any(PurePosixPath(file).name == archive.name for file in self._context.listFiles):
            self._context.addPyFile(str(archive))
        _copy_for_streams(archive)

    @contextmanager
    def stages(self) -> Generator[Callable[[], Sequence[Stage]], None, None]:
        """Yield a function that reads the status store."""
        store: object = getattr(self._context, "_jsc").sc().statusStore()  # noqa: B009
        active = cast(Callable[[], _Stages], getattr(store, "activeStages"))  # noqa: B009

        def stages() -> Sequence[Stage]:
            found = active()
            return [_stage(found.apply(index)) for index in range(found.size())]

        yield stages

    def rows_of_tasks(
        self, inputs: Sequence[Input], read: Callable[[Input], Iterator[pa.RecordBatch]], schema: str | StructType
    ) -> DataFrame:
        """Distribute the inputs as an RDD, whose size Spark does not know, so that no join broadcasts the rows."""
        rows = [(pickle.dumps(one),) for one in inputs]
        frame = self._spark.createDataFrame(rows, INPUT_SCHEMA)
        if rows:
            frame = self._spark.createDataFrame(self._context.parallelize(rows, len(rows)), INPUT_SCHEMA)

        return frame.mapInArrow(task_of(read), schema)


def is_local(master: str) -> bool:
    """Whether tasks run within the driver's JVM; false for local-cluster."""
    return master == "local" or master.startswith("local[")


def _copy_for_streams(archive: Path) -> None:
    """Copy the archive to the folder from which the driver's Python worker of a stream imports.

    Spark copies the files of a job to another folder than the one it passes to this worker.
    Source: PythonStreamingSourceRunner.init, Spark 4.2.0.
    """
    folder = Path(pyspark.SparkFiles.getRootDirectory(), _FOLDER_OF_STREAMS)
    folder.mkdir(exist_ok=True)
    shutil.copyfile(archive, folder / archive.name)


def _stage(data: _StageData) -> Stage:
    return Stage(
        number=data.stageId(),
        tasks=data.numTasks(),
        tasks_done=data.numCompleteTasks(),
        rows=data.inputRecords() + data.shuffleReadRecords(),
        bytes_shuffled=data.shuffleWriteBytes(),
    )
