"""AlterReplicaLogDirs (34), versions 0-2.

There is one log directory, that of DescribeLogDirs. A replica that is moved there stays where it is.
v2 flexible.
Source: KafkaApis.handleAlterReplicaLogDirsRequest and ReplicaManager.alterReplicaLogDirs, Kafka 4.3.0;
tests/golden/replicas-4.3.0.jsonl.
"""

from __future__ import annotations

from functools import partial

from ....protocol.error_codes import ErrorCode
from ....protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from ...requests.request_context import NodeServices, RequestContext
from ...runtime.long_work import for_each, in_turn, step

# Kafka moves a replica into the folder "TOPIC-INDEX.<32 hexadecimal digits>-future"; file systems allow 255 bytes.
FOLDER_NAME_LENGTH_MAX = 255
FOLDER_SUFFIX_LENGTH = len(".") + 32 + len("-future")


async def handle(context: RequestContext, request: AlterReplicaLogDirsRequest) -> AlterReplicaLogDirsResponse:
    """Move each replica. Of several directories for one replica the last counts."""
    paths: dict[str, dict[int, str]] = {}
    for directory in request.dirs:
        for topic in directory.topics:
            for index in topic.partitions:
                paths.setdefault(topic.name, {})[index] = directory.path
                await step()
    results = await in_turn(partial(_move_in_topic, context.node), paths.items())
    return AlterReplicaLogDirsResponse(results=results)


async def _move_in_topic(node: NodeServices, topic: tuple[str, dict[int, str]]) -> AlterReplicaLogDirTopicResult:
    name, paths = topic

    def result_of(asked: tuple[int, str]) -> AlterReplicaLogDirPartitionResult:
        return AlterReplicaLogDirPartitionResult(partition_index=asked[0], error_code=_move(node, name, *asked))

    partitions = await for_each(result_of, paths.items())
    return AlterReplicaLogDirTopicResult(topic_name=name, partitions=partitions)


def _move(node: NodeServices, topic_name: str, index: int, path: str) -> ErrorCode:
    if len(f"{topic_name}-{index}") + FOLDER_SUFFIX_LENGTH > FOLDER_NAME_LENGTH_MAX:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    # As in Kafka, another spelling of the path (a trailing slash) is another directory.
    if path != node.replicas.log_directory:
        return ErrorCode.LOG_DIR_NOT_FOUND
    if not node.image.has_partition(topic_name, index):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.NONE
