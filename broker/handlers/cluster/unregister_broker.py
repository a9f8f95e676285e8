"""UnregisterBroker (64), version 0.

Source: KafkaApis.handleUnregisterBrokerRequest and ClusterControlManager.unregisterBroker, Kafka 4.3.0;
tests/golden/quorum-4.3.0.jsonl.
"""

from __future__ import annotations

from ....protocol.error_codes import KafkaError
from ....protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from ...requests.request_context import RequestContext
from ...runtime.deferred import Deferred


def handle(
    context: RequestContext, request: UnregisterBrokerRequest
) -> UnregisterBrokerResponse | Deferred[UnregisterBrokerResponse]:
    """Remove the broker from the cluster."""
    try:
        context.node.controller.unregister_broker(request.broker_id)
    except KafkaError as error:
        return _response(error)
    return context.node.controller.when_saved(_response)


def _response(error: KafkaError | None) -> UnregisterBrokerResponse:
    if error is None:
        return UnregisterBrokerResponse()
    return UnregisterBrokerResponse(error_code=error.code, error_message=error.message)
