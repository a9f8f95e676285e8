"""What classic sessions and sessions of Spark Connect do in different ways, and which kind a session is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from pyspark.sql import DataFrame, SparkSession

from .classic_session import ClassicSession
from .connect_session import ConnectSession
from .stage import Stage

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

Input = TypeVar("Input")

# The package of the sessions of Spark Connect, which do not have the type of the classic ones.
_CONNECT = "pyspark.sql.connect."


class SessionKind(Protocol):
    """A session, with what depends on its kind."""

    def task_count(self) -> int:
        """Return the number of tasks that run at a time."""
        ...

    def send_archive(self, write_archive: Callable[[], Path]) -> None:
        """Send a zip file of Python modules to the workers, unless they have the modules of this process."""
        ...

    def stages(self) -> AbstractContextManager[Callable[[], Sequence[Stage]]]:
        """Return, for a block, a function that returns the running stages. It can raise the exceptions of Spark."""
        ...

    def rows_of_tasks(
        self, inputs: Sequence[Input], read: Callable[[Input], Iterator[pa.RecordBatch]], schema: str | StructType
    ) -> DataFrame:
        """Return the rows that read returns for each input. Each input is read by a task of its own."""
        ...


def kind_of(spark: SparkSession) -> SessionKind:
    """Return a session as one of its kind."""
    return ConnectSession(spark) if is_connect(spark) else ClassicSession(spark)


def is_connect(spark: SparkSession) -> bool:
    """Whether a session is of Spark Connect."""
    return type(spark).__module__.startswith(_CONNECT)
