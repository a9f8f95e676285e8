"""The records of a topic, decoded, for Broker.records and AsyncBroker.records."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, TypedDict

from ..admin.operations.offset_pages import RecordQuery
from ..admin.operations.record_operations import read_records
from ..admin.operations.topic_operations import TopicPath
from ..broker.replica.record_reader import StoredRecord
from ..faults import strict_json
from ..faults.rule_error import RuleError

if TYPE_CHECKING:
    from ..admin.control import Control


class RecordFilter(TypedDict, total=False):
    """The records to return.

    from_offset, to_offset: of each partition, both included. limit: at most so many, the first by partition and offset.
    """

    from_offset: int
    to_offset: int
    limit: int


def reading(
    topic: str, partition: int | None, chosen: Mapping[str, object]
) -> Callable[[Control], Coroutine[object, object, list[StoredRecord]]]:
    """Return the operation that reads the records. chosen: a RecordFilter. Raises RuleError for an invalid value."""
    fields = {**chosen, "partition": partition}
    limit = fields.pop("limit", None)
    if limit is not None and (type(limit) is not int or limit < 1):
        raise RuleError("limit", limit, "integer >= 1 or null", f"limit cannot be {limit!r}; allowed: integer >= 1")
    query = strict_json.convert(fields, RecordQuery)
    return lambda control: read_records(control, TopicPath(topic=topic), query, limit)
