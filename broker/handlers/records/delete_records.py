"""DeleteRecords (21), versions 0-2.

v2 flexible.
Source: KafkaApis.handleDeleteRecordsRequest and ReplicaManager.deleteRecordsOnLocalLog, Kafka 4.3.0;
tests/golden/cluster-4.3.0.jsonl.
"""

from __future__ import annotations

from functools import partial

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from ...metadata.metadata_image import is_internal_topic
from ...requests.request_context import NodeServices, RequestContext
from ...runtime.long_work import for_each, in_turn

NO_LOW_WATERMARK = -1


async def handle(context: RequestContext, request: DeleteRecordsRequest) -> DeleteRecordsResponse:
    """Delete the records before the offset of each partition; the last of several offsets counts."""
    offsets: dict[str, dict[int, int]] = {}
    for topic in request.topics:
        for partition in topic.partitions:
            offsets.setdefault(topic.name, {})[partition.partition_index] = partition.offset
    topics = await in_turn(partial(_delete_in_topic, context.node), offsets.items())
    return DeleteRecordsResponse(topics=topics)


async def _delete_in_topic(node: NodeServices, topic: tuple[str, dict[int, int]]) -> DeleteRecordsTopicResult:
    name, offsets = topic
    results = await for_each(lambda asked: _delete(node, name, *asked), offsets.items())
    return DeleteRecordsTopicResult(name=name, partitions=results)


def _delete(node: NodeServices, name: str, index: int, offset: int) -> DeleteRecordsPartitionResult:
    try:
        low_watermark = _low_watermark_after(node, name, index, offset)
    except KafkaError as error:
        return DeleteRecordsPartitionResult(
            partition_index=index, low_watermark=NO_LOW_WATERMARK, error_code=error.code
        )
    return DeleteRecordsPartitionResult(partition_index=index, low_watermark=low_watermark)


def _low_watermark_after(node: NodeServices, name: str, index: int, offset: int) -> int:
    partition = node.replicas.partition_of(name, index)
    if is_internal_topic(name):
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"records of internal topic {name} are not deleted")
    partition.check_leader()
    low_watermark = partition.delete_records_before(offset)
    node.report_deleted(partition)
    return low_watermark
