"""Tasks in a Python worker process of Spark, which runs one after another."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import pyarrow as pa

Input = TypeVar("Input")

# The pickled input of a task.
INPUT_SCHEMA = "input binary"


def freeze_imported_objects() -> None:
    """Exclude all present objects, mostly imported modules, from later garbage collections.

    Spark runs a full collection after every task (pyspark/daemon.py, 4.2.0), which would scan all definitions of
    pyspark, pandas and pyarrow. Only the first call has an effect, so that garbage of tasks is collected.
    """
    if not gc.get_freeze_count():
        gc.freeze()


def task_of(
    read: Callable[[Input], Iterator[pa.RecordBatch]],
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for mapInArrow that yields the rows of the inputs in a batch of INPUT_SCHEMA."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        freeze_imported_objects()
        for batch in batches:
            contents: list[bytes] = batch.to_pydict()["input"]
            for content in contents:
                yield from read(pickle.loads(content))

    return run
