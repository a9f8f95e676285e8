"""kafka-python's records and codecs, to compare the product with."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from typing import Any

from fauxka.protocol.batches.records import Record

with warnings.catch_warnings():
    # The import reads schemas in a way that Python 3.11 warns about.
    warnings.simplefilter("ignore", DeprecationWarning)
    _record: Any = importlib.import_module("kafka.record")
    codecs: Any = importlib.import_module("kafka.codec")


def first_batch_of(data: bytes) -> Any:
    """Return kafka-python's object for the first batch."""
    batch = _record.MemoryRecords(data).next_batch()
    assert batch is not None
    return batch


def records_of(batch: Any) -> list[Record]:
    """Return the records of kafka-python's batch."""
    return [Record(each.value, each.key, each.timestamp, tuple(each.headers), each.offset) for each in batch]


def build(records: Sequence[Record], compression: int) -> bytes:
    """Return the batch that kafka-python writes."""
    builder = _record.MemoryRecordsBuilder(magic=2, compression_type=compression, batch_size=10**6)
    for each in records:
        builder.append(timestamp=each.timestamp, key=each.key, value=each.value, headers=list(each.headers))
    builder.close()
    return bytes(builder.buffer())
