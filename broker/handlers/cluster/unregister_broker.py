"""UnregisterBroker (64), version 0.

Source: KafkaApis.handleUnregisterBrokerRequest and ClusterControlManager.unregisterBroker, Kafka 4.3.0;
tests/golden/quorum-4.3.0.jsonl.
"""

from __future__ import annotations

from ....protocol.error_codes import KafkaError
from ....protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from ...requests.request_context import RequestContext


async def handle(context: RequestContext, request: UnregisterBrokerRequest) -> UnregisterBrokerResponse:
    """Remove the broker from the cluster."""
    try:
        context.node.controller.unregister_broker(request.broker_id)
    except KafkaError as error:
        return _error_response(error)
    storage_error = await context.node.controller.saved()
    return UnregisterBrokerResponse() if storage_error is None else _error_response(storage_error)


def _error_response(error: KafkaError) -> UnregisterBrokerResponse:
    return UnregisterBrokerResponse(error_code=error.code, error_message=error.message)
