"""Operation that decodes the key and value of a record by a schema registry or by schema files."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from msgspec import Struct

from ...broker.replica.record_reader import OffsetRange, UnreadableError, read_page
from ...protocol.error_codes import KafkaError
from ..content_decoder import Content
from ..control import Control
from ..daemon_thread import run_in_daemon_thread
from ..errors import CallError, conflict
from ..long_calls import run_long_call
from ..operation import Operation
from .offset_pages import Offset, PartitionIndex, partitions_of
from .topic_operations import TAG, TopicPath, topic_of

if TYPE_CHECKING:
    from ...broker.replica.record_reader import StoredRecord
    from ..content_decoder import ContentDecoder

# A registry that does not respond is asked for half a minute, by a thread for each call.
AT_ONCE_MAX = 8


class RecordPlace(Struct, kw_only=True, forbid_unknown_fields=True):
    """The place of a record."""

    partition: PartitionIndex
    offset: Offset


class DecodedInfo(Struct, kw_only=True):
    """A decoded key or value. kind: avro, protobuf or json. json: null with an error, which says why."""

    kind: str | None = None
    schema_id: int | None = None
    json: str | None = None
    error: str | None = None


class DecodedRecord(Struct, kw_only=True):
    """The key and the value of a record; null without a schema for it, and for null.

    has_schemas: whether the broker was started with a schema registry or with schema files.
    """

    has_schemas: bool
    key: DecodedInfo | None = None
    value: DecodedInfo | None = None


async def decode_record(control: Control, path: TopicPath, query: RecordPlace) -> DecodedRecord:
    """Decode the key and value of a record, in Avro, Protobuf or by a JSON schema.

    The schemas are those of --schema-registry, --key-schema and --value-schema of `fauxka serve`.
    """
    decoder = control.content_decoder
    if decoder is None:
        topic_of(control, path)
        return DecodedRecord(has_schemas=False)
    record = await run_long_call(control, _read(control, path, query))
    if control.decoding >= AT_ONCE_MAX:
        raise CallError(503, f"{AT_ONCE_MAX} records are being decoded; the schema registry is slow")
    control.decoding += 1
    # The work goes on if the caller disconnects, and is counted until its end.
    work = asyncio.ensure_future(run_in_daemon_thread("fauxka-decoding", lambda: _decoded(decoder, record)))
    work.add_done_callback(lambda _: _ended(control))
    return await asyncio.shield(work)


def _ended(control: Control) -> None:
    control.decoding -= 1


async def _read(control: Control, path: TopicPath, query: RecordPlace) -> StoredRecord:
    """Return the record. Raises CallError 404, and 409 for a damaged batch."""
    (partition,) = partitions_of(control, topic_of(control, path), query.partition)
    try:
        page = await read_page(partition, OffsetRange(query.offset, query.offset), 1, 1)
    except (KafkaError, UnreadableError) as error:
        raise conflict(str(error), field="offset", value=query.offset) from error
    if not page.items:
        message = f"there is no record at offset {query.offset} of {path.topic}-{query.partition}"
        raise CallError(404, message, field="offset", value=query.offset, allowed="the offset of a record")
    return page.items[0]


def _decoded(decoder: ContentDecoder, record: StoredRecord) -> DecodedRecord:
    """Decode a record, in a thread."""
    return DecodedRecord(
        has_schemas=True,
        key=_decoded_content(decoder, "key", record.key),
        value=_decoded_content(decoder, "value", record.value),
    )


def _decoded_content(decoder: ContentDecoder, content: Content, data: bytes | None) -> DecodedInfo | None:
    if data is None:
        return None
    try:
        decoded = decoder.decode(content, data)
    except ValueError as error:
        return DecodedInfo(error=str(error))
    return None if decoded is None else DecodedInfo(kind=decoded.kind, schema_id=decoded.schema_id, json=decoded.json)


OPERATIONS = (
    Operation(
        method="GET",
        path="/v1/topics/{topic}/records/decoded",
        perform=decode_record,
        tag=TAG,
        errors=(404, 409, 503),
    ),
)
