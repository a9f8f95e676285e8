"""The view of the hashes of event ids: few rows for a part of a log, which contain the hashes of many records.

The first row of a part has its counts, each other row the hashes for one task.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa

from ...protocol.batches.record_batch import CONTROL_BIT
from . import record_rows
from .arrow_types import ArrowArray, arrow
from .id_hashes import HashedId, hash_rows, task_of_hash
from .record_rows import RecordRows
from .row_source import RowSource
from .varints import Booleans, Words

# The columns, with their types in Spark. task: distributes the rows. with_id and the further columns: of the records of
# a partition, see count_events. is_unreadable: whether a batch with a right CRC has records that cannot be read.
_COLUMNS = {
    "task": ("int", pa.int32()),
    "hashes": ("binary", pa.binary()),
    "topic": ("string", pa.string()),
    "partition": ("int", pa.int32()),
    "with_id": ("bigint", pa.int64()),
    "without_id": ("bigint", pa.int64()),
    "empty_ids": ("bigint", pa.int64()),
    "first_offset": ("bigint", pa.int64()),
    "first_timestamp": ("bigint", pa.int64()),
    "is_unreadable": ("boolean", pa.bool_()),
}
KINDS = {name: kind for name, (kind, _) in _COLUMNS.items()}


@dataclass
class IdHashRows:
    """The rows of one part, mostly the split of a task."""

    wanted: HashedId
    source: RowSource
    hashes: list[Words] = field(default_factory=list[Words])
    with_id: int = 0
    without_id: int = 0
    empty_ids: int = 0
    first_offset: int | None = None
    first_timestamp: int | None = None
    is_unreadable: bool = False

    def add(self, rows: RecordRows, is_wanted: Booleans | None) -> None:
        """Add records of the part. is_wanted: None for all."""
        found = hash_rows(rows.columns, self.wanted, self.source.topic)
        is_event = are_events(rows)
        is_unreadable = ~rows.columns.is_record & rows.table.has_valid_crc[rows.batches][rows.batch_of_row]
        if is_wanted is not None:
            is_event &= is_wanted
            is_unreadable &= is_wanted
        self.is_unreadable |= bool(is_unreadable.any())
        has_id = found.has_id & is_event
        self.hashes.append(found.hashes[has_id])
        self.with_id += int(has_id.sum())
        has_none = is_event & ~found.has_id
        if has_none.any():
            self._add_without_id(rows, has_none)
            self.empty_ids += int((found.is_empty & is_event).sum())

    def _add_without_id(self, rows: RecordRows, has_none: Booleans) -> None:
        self.without_id += int(has_none.sum())
        offset = int(rows.offsets[has_none].min())
        self.first_offset = offset if self.first_offset is None else min(offset, self.first_offset)
        timestamps: Any = record_rows.COLUMNS["timestamp"](rows).filter(pa.array(has_none)).drop_null()
        if len(timestamps):
            microseconds = int(timestamps.view(pa.int64()).to_numpy().min())
            self.first_timestamp = min(
                microseconds, microseconds if self.first_timestamp is None else self.first_timestamp
            )

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._by_task) + 1

    def column(self, name: str) -> ArrowArray:
        """Return a column of the rows; call it when all records have been added."""
        values: list[Any]
        if name == "task":
            values = [self._task_of_counts(), *self._by_task]
        elif name == "hashes":
            values = [None, *(hashes.tobytes() for hashes in self._by_task.values())]
        else:
            value = getattr(self.source if name in ("topic", "partition") else self, name)
            values = [value, *[None] * len(self._by_task)]
        made: ArrowArray = arrow.array(values, _COLUMNS[name][1])
        return made

    @cached_property
    def _by_task(self) -> dict[int, Words]:
        # The tasks have ranges of hashes, so those of a task are together.
        hashes = np.sort(np.concatenate([np.zeros(0, np.uint64), *self.hashes]))
        # Two of a kind show that a hash is repeated. Without the others no task gets all records of one event id.
        hashes = np.concatenate([hashes[:2], hashes[2:][hashes[2:] != hashes[:-2]]])
        tasks, firsts = np.unique(task_of_hash(hashes, self.wanted.tasks), return_index=True)
        return dict(zip(tasks.tolist(), np.split(hashes, firsts[1:]), strict=False))

    def _task_of_counts(self) -> int:
        return crc32(f"{self.source.topic}-{self.source.partition}".encode()) % self.wanted.tasks


def are_events(rows: RecordRows) -> Booleans:
    """Return which rows are records that can be read, and no markers."""
    is_control = rows.of_batch("attributes") & CONTROL_BIT != 0
    is_event = rows.columns.is_record & rows.table.has_valid_crc[rows.batches][rows.batch_of_row]
    return is_event & ~is_control[rows.batch_of_row] if is_control.any() else is_event
