"""Tasks in a Python worker process of Spark, which runs one after another."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import pyarrow as pa

Input = TypeVar("Input")


def freeze_imported_objects() -> None:
    """Exclude all present objects, mostly imported modules, from later garbage collections.

    Spark runs a full collection after every task (pyspark/daemon.py, 4.2.0), which would scan all definitions of
    pyspark, pandas and pyarrow. Only the first call has an effect, so that garbage of tasks is collected.
    """
    if not gc.get_freeze_count():
        gc.freeze()


def task_of(
    inputs_of: Callable[[pa.RecordBatch], Iterable[Input]], read: Callable[[Input], Iterator[pa.RecordBatch]]
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for mapInArrow that yields the rows of the inputs in a batch."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        freeze_imported_objects()
        for batch in batches:
            for one in inputs_of(batch):
                yield from read(one)

    return run
