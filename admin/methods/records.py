"""The records of a topic as Python has them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict, cast

from ...broker.replica.record_reader import StoredRecord
from ...faults.json_bytes import BytesValue, bytes_of
from ...faults.rule_error import InvalidValueError
from ..errors import CallError
from ..operations.record_operations import RecordInfo

# Records that one call returns, if the caller sets no limit. More would be read by mistake.
RECORDS_MAX = 100_000


class ProcessedEvents(TypedDict, total=False):
    """Records by what identifies their events. event: the content, one or several. event_id: where it is."""

    event: str | Iterable[str]
    event_id: str


class RecordFilter(TypedDict, total=False):
    """The records to return.

    from_offset, to_offset: of each partition, both included. limit: at most so many, the first by partition and offset.
    """

    from_offset: int
    to_offset: int
    limit: int


def as_list(value: object) -> object:
    """Return several values as a list; one value as it is."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return value
    return list(cast("Iterable[object]", value))


def check_limit(limit: object) -> int | None:
    """Return the limit. Raises InvalidValueError."""
    if limit is None or (type(limit) is int and limit >= 1):
        return limit
    raise InvalidValueError("limit", limit, "integer >= 1 or null", f"limit cannot be {limit!r}; allowed: integer >= 1")


def check_count(topic: str, records: list[StoredRecord], limit: int | None) -> list[StoredRecord]:
    """Return the records. Raises CallError 400 if there are more than RECORDS_MAX without a limit."""
    if limit is None and len(records) > RECORDS_MAX:
        message = f"{topic} has more than {RECORDS_MAX} such records: set limit, partition, from_offset or to_offset"
        raise CallError(400, message, field="limit", value=None, allowed="an integer")
    return records


def record_of(topic: str, info: RecordInfo) -> StoredRecord:
    """Return a record of the admin API with bytes for its key, value and headers."""
    return StoredRecord(
        topic=topic,
        partition=info.partition,
        offset=info.offset,
        timestamp=info.timestamp,
        timestamp_type=info.timestamp_type,
        key=_bytes_of(info.key),
        value=_bytes_of(info.value),
        headers=tuple((header.name, _bytes_of(header.value)) for header in info.headers),
        producer_id=info.producer_id,
        producer_epoch=info.producer_epoch,
        sequence=info.sequence,
        is_control=info.is_control,
        transaction=info.transaction,
        compression=info.compression,
        leader_epoch=info.leader_epoch,
    )


def _bytes_of(value: str | BytesValue | None) -> bytes | None:
    return None if value is None else bytes_of(value)
