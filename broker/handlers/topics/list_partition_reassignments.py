"""ListPartitionReassignments (46), version 0: always empty, because one node leads all partitions.

Source: ReplicationControlManager.listPartitionReassignments, Kafka 4.3.0; tests/golden/cluster-4.3.0.jsonl.
"""

from __future__ import annotations

from ....protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from ...requests.request_context import ApiHandler, RequestContext


def handle(context: RequestContext, request: ListPartitionReassignmentsRequest) -> ListPartitionReassignmentsResponse:
    """Return no reassignment."""
    return ListPartitionReassignmentsResponse(error_message=None)


HANDLER = ApiHandler(ListPartitionReassignmentsRequest.read, handle)
