"""Message sets of old clients: those of Produce 0-2 become batches, and the batches of Fetch 0-3 become message sets.

Source: KafkaApis.maybeConvertFetchedData and LogValidator, Kafka 3.9.1.
"""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial

from ...protocol.batches.compression import BrokenPayload, PayloadTooLarge
from ...protocol.batches.message_sets import (
    MAGIC_V0,
    MAGIC_V1,
    CorruptMessageSet,
    InvalidMessageSet,
    ZstdNotConvertible,
    batch_of,
    fetched_message_set,
)
from ...protocol.batches.record_batch import MAGIC_POSITION, MAGIC_V2
from ...protocol.batches.whole_batches import split_batches
from ...protocol.error_codes import ErrorCode, KafkaError
from ...protocol.fetch_codec import FetchedPartition, FetchResults
from ...protocol.produced_records import ZSTD_VERSION_MIN, check_produced_records
from ..runtime.long_work import in_thread
from .request_context import RequestContext

# The first version of Fetch with messages of magic 1.
TIMESTAMPS_SINCE = 2
# Whether batches become message sets: the config of a topic, and the broker's default.
CONVERTS, CONVERTS_BY_DEFAULT = "message.downconversion.enable", "log.message.downconversion.enable"


async def produced_batch(records: memoryview) -> memoryview | None:
    """Return the batch that a produced message set becomes; None for a set without a message.

    records: bytes that outlive the request. A batch is checked as in newer versions, and may have every codec.
    Raises KafkaError: CORRUPT_MESSAGE, INVALID_RECORD, MESSAGE_TOO_LARGE, UNKNOWN_SERVER_ERROR.
    """
    if len(records) > MAGIC_POSITION and records[MAGIC_POSITION] >= MAGIC_V2:
        return check_produced_records(records, ZSTD_VERSION_MIN)
    try:
        batch = await in_thread(partial(batch_of, records))
    except CorruptMessageSet as error:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, str(error)) from None
    except InvalidMessageSet as error:
        raise KafkaError(ErrorCode.INVALID_RECORD, str(error)) from None
    except PayloadTooLarge as error:
        raise KafkaError(ErrorCode.MESSAGE_TOO_LARGE, str(error)) from None
    except BrokenPayload as error:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, str(error)) from None
    return None if batch is None else memoryview(batch)


async def with_message_sets(context: RequestContext, awaited: FetchResults | Awaitable[FetchResults]) -> FetchResults:
    """Return the response of a Fetch with message sets in place of batches."""
    results = awaited if isinstance(awaited, FetchResults) else await awaited
    magic = MAGIC_V0 if context.api_version < TIMESTAMPS_SINCE else MAGIC_V1
    for at, (topic_name, fetched) in enumerate(results.partitions):
        if not fetched.records:
            continue
        if not _converts(context, topic_name.decode(errors="replace")):
            refused = FetchedPartition(fetched.index, ErrorCode.UNSUPPORTED_VERSION)
            results.partitions[at] = topic_name, refused
            continue
        # A copy: the log may lose these bytes while a thread reads them.
        batches = [batch.data for batch in split_batches(memoryview(b"".join(fetched.records)))]
        try:
            message_set = await in_thread(partial(fetched_message_set, batches, magic, fetched.fetch_offset))
        except ZstdNotConvertible:
            fetched.error_code, message_set = ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, b""
        fetched.records, fetched.records_bytes = [memoryview(message_set)], len(message_set)
    return results


def _converts(context: RequestContext, topic_name: str) -> bool:
    topic = context.node.image.find_topic(topic_name)
    text = None if topic is None else topic.configs.get(CONVERTS)
    return bool(context.node.config.value_of(CONVERTS_BY_DEFAULT)) if text is None else text.lower() == "true"
