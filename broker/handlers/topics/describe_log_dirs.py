"""DescribeLogDirs (35), versions 0-5.

There is one log directory: the data folder, with the bytes of its file system. Without a data folder the bytes are
those of the machine's memory. The offset lag is 0: only a future replica has another one, and there is none.
v2 flexible; v3 top-level error code; v4 total and usable bytes; v5 cordoned directories (none here).
Source: KafkaApis.handleDescribeLogDirsRequest and ReplicaManager.describeLogDirs, Kafka 4.3.0;
tests/golden/cluster-4.3.0.jsonl.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections import defaultdict

from ....protocol.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from ...replica.partition import Partition
from ...requests.request_context import NodeServices, RequestContext
from ...runtime.long_work import step

# Kafka's value for an unknown size.
UNKNOWN_BYTES = -1


async def handle(context: RequestContext, request: DescribeLogDirsRequest) -> DescribeLogDirsResponse:
    """Return the sizes of the requested partitions, or of all for null. Those without a replica here are left out."""
    node = context.node
    total_bytes, usable_bytes = (
        _disk_bytes(node.replicas.log_directory) if node.replicas.is_on_disk else _memory_bytes()
    )
    result = DescribeLogDirsResult(
        log_dir=node.replicas.log_directory,
        topics=await _topics(node, request),
        total_bytes=total_bytes,
        usable_bytes=usable_bytes,
    )
    return DescribeLogDirsResponse(results=[result])


async def _topics(node: NodeServices, request: DescribeLogDirsRequest) -> list[DescribeLogDirsTopic]:
    wanted: dict[str, set[int]] = defaultdict(set)
    for requested in request.topics or ():
        wanted[requested.topic].update(requested.partitions)
        await step()
    results: list[DescribeLogDirsTopic] = []
    for name in list(node.image.topics) if request.topics is None else wanted:
        await step()
        topic = node.image.find_topic(name)
        if topic is None:
            continue
        described = [
            DescribeLogDirsPartition(partition_index=each.index, partition_size=_size_of(each))
            for each in node.replicas.partitions_of(topic)
            if each.has_replica and (request.topics is None or each.index in wanted[name])
        ]
        if described:
            results.append(DescribeLogDirsTopic(name=name, partitions=described))
    return results


def _size_of(partition: Partition) -> int:
    """Return the bytes of a log; one in memory that was never used has none."""
    log = partition.find_log()
    return 0 if log is None else log.size_bytes


def _memory_bytes() -> tuple[int, int]:
    """Return the total and available bytes of the machine's memory."""
    if sys.platform == "win32":
        return UNKNOWN_BYTES, UNKNOWN_BYTES
    try:
        page_bytes = os.sysconf("SC_PAGE_SIZE")
        return os.sysconf("SC_PHYS_PAGES") * page_bytes, os.sysconf("SC_AVPHYS_PAGES") * page_bytes
    except (ValueError, OSError):
        return UNKNOWN_BYTES, UNKNOWN_BYTES


def _disk_bytes(folder: str) -> tuple[int, int]:
    """Return the total and usable bytes of the folder's file system."""
    try:
        usage = shutil.disk_usage(folder)
    except OSError:
        return UNKNOWN_BYTES, UNKNOWN_BYTES
    return usage.total, usage.free
