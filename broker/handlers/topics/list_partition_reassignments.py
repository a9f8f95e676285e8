"""ListPartitionReassignments (46), version 0.

Source: ReplicationControlManager.listPartitionReassignments, Kafka 4.3.0; tests/golden/cluster-4.3.0.jsonl.
"""

from __future__ import annotations

from ....protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from ...requests.request_context import RequestContext


def handle(context: RequestContext, request: ListPartitionReassignmentsRequest) -> ListPartitionReassignmentsResponse:
    """Return the reassignments in progress of the requested partitions. Null stands for all."""
    wanted = None
    if request.topics is not None:
        wanted = {(topic.name, index) for topic in request.topics for index in topic.partition_indexes}
    topics: dict[str, OngoingTopicReassignment] = {}
    for topic, partition in context.node.controller.replication.reassignments():
        if wanted is None or (topic.name, partition.index) in wanted:
            listed = topics.setdefault(topic.name, OngoingTopicReassignment(name=topic.name))
            listed.partitions.append(
                OngoingPartitionReassignment(
                    partition_index=partition.index,
                    replicas=partition.replicas,
                    adding_replicas=partition.adding,
                    removing_replicas=partition.removing,
                )
            )
    return ListPartitionReassignmentsResponse(error_message=None, topics=list(topics.values()))
