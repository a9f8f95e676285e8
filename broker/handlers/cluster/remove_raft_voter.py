"""RemoveRaftVoter (81), version 0 (KIP-853).

There is only one voter, which cannot be removed; see raft_voters.
Source: KafkaRaftClient.handleRemoveVoterRequest, Kafka 4.3.0; tests/golden/voters-4.3.0.jsonl.
"""

from __future__ import annotations

from ....protocol.error_codes import KafkaError
from ....protocol.messages.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from ...metadata.raft_voters import ReplicaKey, check_voter_request, controller_replica, remove_voter_error
from ...requests.request_context import RequestContext


def handle(context: RequestContext, request: RemoveRaftVoterRequest) -> RemoveRaftVoterResponse:
    """Return the error of the request."""
    image = context.node.image
    voter = ReplicaKey(request.voter_id, request.voter_directory_id)
    try:
        check_voter_request(image, "Remove", request.cluster_id, voter)
        raise remove_voter_error(image, voter, controller_replica(image, context.node.replicas))
    except KafkaError as error:
        return RemoveRaftVoterResponse(error_code=error.code, error_message=error.message)
