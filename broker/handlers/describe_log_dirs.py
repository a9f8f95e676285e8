"""DescribeLogDirs (35), versions 1-5.

There is one log directory. The logs are in memory, so its total and usable bytes are those of the machine's memory.
v2 flexible; v3 an error of its own; v4 total and usable bytes; v5 cordoned directories, which there are none of.
Source: KafkaApis.handleDescribeLogDirsRequest and ReplicaManager.describeLogDirs, Kafka 4.3.0;
tests/golden/cluster-4.3.0.jsonl.
"""

from __future__ import annotations

import os
from collections import defaultdict

from ...protocol.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from ..cluster import Cluster
from ..partition import Partition
from ..request_context import ApiHandler, RequestContext

# What Kafka answers where it cannot find out.
UNKNOWN_BYTES = -1


def handle(context: RequestContext, request: DescribeLogDirsRequest) -> DescribeLogDirsResponse:
    """Tell how large the partitions asked for are; null asks for all; what is not there is left out."""
    result = DescribeLogDirsResult(
        log_dir=context.cluster.config.log_directory,
        topics=_topics(context.cluster, request),
        total_bytes=_memory_bytes("SC_PHYS_PAGES"),
        usable_bytes=_memory_bytes("SC_AVPHYS_PAGES"),
    )
    return DescribeLogDirsResponse(results=[result])


def _topics(cluster: Cluster, request: DescribeLogDirsRequest) -> list[DescribeLogDirsTopic]:
    wanted: dict[str, set[int]] = defaultdict(set)
    for asked in request.topics or ():
        wanted[asked.topic].update(asked.partitions)
    answers: list[DescribeLogDirsTopic] = []
    for name in cluster.topics if request.topics is None else wanted:
        topic = cluster.find_topic(name)
        partitions = [] if topic is None else topic.partitions
        described = [_partition(each) for each in partitions if request.topics is None or each.index in wanted[name]]
        if described:
            answers.append(DescribeLogDirsTopic(name=name, partitions=described))
    return answers


def _partition(partition: Partition) -> DescribeLogDirsPartition:
    return DescribeLogDirsPartition(partition_index=partition.index, partition_size=partition.log.size_bytes)


def _memory_bytes(pages: str) -> int:
    try:
        return os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return UNKNOWN_BYTES


HANDLER = ApiHandler(DescribeLogDirsRequest.read, handle)
