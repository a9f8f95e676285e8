"""AddRaftVoter (80), versions 0-1 (KIP-853).

No voter can be added; see raft_voters. A listener without a name has the error of a missing listener; it ends the
process of Kafka 4.3.0. timeout_ms has no effect, as in Kafka.
v1 ack_when_committed.
Source: KafkaRaftClient.handleAddVoterRequest and Endpoints, Kafka 4.3.0; tests/golden/voters-4.3.0.jsonl.
"""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse, Listener
from ...coordinators.java_hash_tables import java_hash_order
from ...metadata.raft_voters import ReplicaKey, add_voter_error, check_voter_request, controller_replica
from ...requests.request_context import RequestContext
from ...runtime.long_work import step

# Up to here the endpoints in a message are in the order of Kafka's hash table, beyond it in that of the request: the
# hash of a name takes a step for each character.
HASHED_CHARACTERS_MAX = 10_000


async def handle(context: RequestContext, request: AddRaftVoterRequest) -> AddRaftVoterResponse:
    """Return the error of the request."""
    image = context.node.image
    voter = ReplicaKey(request.voter_id, request.voter_directory_id)
    try:
        check_voter_request(image, "Add", request.cluster_id, voter)
        await _check_listeners(context, request.listeners)
        raise add_voter_error(image, voter, controller_replica(image, context.node.replicas))
    except KafkaError as error:
        return AddRaftVoterResponse(error_code=error.code, error_message=error.message)


async def _check_listeners(context: RequestContext, listeners: list[Listener]) -> None:
    """Raise KafkaError INVALID_REQUEST without an endpoint for the listener of the controller."""
    endpoints: dict[str, str] = {}
    characters = 0
    for listener in listeners:
        name = listener.name.upper()
        endpoints[name] = f"ListenerName({name})={listener.host}/<unresolved>:{listener.port}"
        characters += len(name)
        await step()
    wanted = context.node.config.list_of("controller.listener.names")[0]
    if wanted in endpoints and "" not in endpoints:
        return
    names = java_hash_order(endpoints) if characters <= HASHED_CHARACTERS_MAX else endpoints
    text = ", ".join(endpoints[name] for name in names)
    message = (
        f"Add voter request didn't include the endpoint (Endpoints(endpoints={{{text}}})) "
        f"for the default listener ListenerName({wanted})"
    )
    raise KafkaError(ErrorCode.INVALID_REQUEST, message)
