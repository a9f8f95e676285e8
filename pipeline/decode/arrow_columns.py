"""Conversion of numpy arrays and byte slices to Arrow arrays."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from .arrow_types import ArrowArray, arrow
from .record_columns import Slices
from .varints import Booleans, Bytes, Longs

TIMESTAMP = pa.timestamp("us", "UTC")
HEADERS = pa.list_(pa.field("element", pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])))

# The range of a timestamp in microseconds, in milliseconds.
_MILLISECONDS_MAX = (2**63 - 1) // 1000


def constant_column(value: str | int | None, kind: pa.DataType, count: int) -> ArrowArray:
    """Return an array of count equal values."""
    made: ArrowArray = arrow.nulls(count, kind) if value is None else arrow.repeat(arrow.scalar(value, kind), count)
    return made


class ConstantColumns:
    """A cache of constant columns by name; each is built once and sliced for each Arrow batch."""

    def __init__(self, count: int) -> None:
        """count: the usual maximum of rows; larger columns are built when needed."""
        self._count = count
        self._made: dict[str, tuple[str | int | None, ArrowArray]] = {}

    def column(self, name: str, value: str | int | None, kind: pa.DataType, count: int) -> ArrowArray:
        """Return an array of count equal values for the column of that name."""
        cached = self._made.get(name)
        if cached is None or cached[0] != value or len(cached[1]) < count:
            cached = (value, constant_column(value, kind, max(count, self._count)))
            self._made[name] = cached
        column: ArrowArray = cached[1].slice(0, count)
        return column


def number_column(numbers: Longs | Booleans, kind: pa.DataType, is_null: Booleans | None = None) -> ArrowArray:
    """Return numbers or booleans as an array of that type, which must be able to hold them."""
    made: ArrowArray = arrow.array(numbers.astype(kind.to_pandas_dtype(), copy=False), kind, mask=is_null)
    return made


def boolean_column(values: Booleans, is_null: Booleans | None = None) -> ArrowArray:
    """Return booleans as an array."""
    made: ArrowArray = arrow.array(values, mask=is_null)
    return made


def timestamp_column(milliseconds: Longs, is_null: Booleans | None = None) -> ArrowArray:
    """Return timestamps; null where a timestamp in microseconds would overflow."""
    if len(milliseconds) and (milliseconds.max() > _MILLISECONDS_MAX or milliseconds.min() < -_MILLISECONDS_MAX):
        is_beyond = (milliseconds > _MILLISECONDS_MAX) | (milliseconds < -_MILLISECONDS_MAX)
        is_null = is_beyond if is_null is None else is_null | is_beyond
        milliseconds = np.where(is_beyond, 0, milliseconds)
    return number_column(milliseconds * 1000, pa.int64(), is_null).view(TIMESTAMP)


def chosen_column(values: list[str | None], choices: Longs, is_null: Booleans | None = None) -> ArrowArray:
    """Return values[choice] for each choice."""
    made: ArrowArray = arrow.array(values, pa.string()).take(arrow.array(choices, mask=is_null))
    return made


def bytes_column(data: Bytes, slices: Slices) -> ArrowArray:
    """Return the bytes of the slices as a binary array.

    An array over data is made without a copy: its elements are alternately a gap between slices and a slice. Arrow then
    takes every second element.
    """
    count = len(slices.starts)
    is_null = slices.sizes < 0
    offsets = np.zeros(2 * count + 1, np.int32)
    offsets[1::2] = slices.starts
    offsets[2::2] = slices.starts + np.maximum(slices.sizes, 0)
    buffers = [None, arrow.py_buffer(offsets), arrow.py_buffer(data)]
    pieces = arrow.Array.from_buffers(pa.binary(), 2 * count, buffers)
    every_second = np.arange(1, 2 * count, 2, dtype=np.int32)
    made: ArrowArray = pieces.take(arrow.array(every_second, mask=is_null if is_null.any() else None))
    return made


def text_column(values: ArrowArray) -> ArrowArray:
    """Return bytes as text; invalid UTF-8 is replaced by U+FFFD."""
    try:
        return values.cast(pa.string())
    except pa.ArrowInvalid:
        texts = (value.as_py() for value in values)
        return pa.array([None if text is None else text.decode("utf-8", "replace") for text in texts], pa.string())


def headers_column(data: Bytes, counts: Longs, keys: Slices, values: Slices) -> ArrowArray:
    """Return the headers of each record; null for a record without headers, as in Spark's kafka format.

    At least one record must have headers.
    """
    columns = [text_column(bytes_column(data, keys)), bytes_column(data, values)]
    pairs = arrow.StructArray.from_arrays(columns, ["key", "value"])
    offsets = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=offsets[1:])
    made: ArrowArray = arrow.ListArray.from_arrays(arrow.array(offsets), pairs, HEADERS, mask=arrow.array(counts == 0))
    return made
