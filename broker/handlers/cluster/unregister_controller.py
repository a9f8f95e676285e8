"""UnregisterController (94), version 0, of Kafka 4.4.

The cluster has one controller, which is active.
Source: ControllerApis.handleUnregisterController and ClusterControlManager.unregisterController, Kafka 4.4.0;
tests/golden/unregister_controller-4.4.0.jsonl.
"""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode
from ....protocol.messages.unregister_controller import UnregisterControllerRequest, UnregisterControllerResponse
from ...requests.request_context import RequestContext


def handle(context: RequestContext, request: UnregisterControllerRequest) -> UnregisterControllerResponse:
    """Refuse to unregister the active controller, and any other, because there is none."""
    if request.controller_id == context.node.image.configs.controller_id:
        return UnregisterControllerResponse(
            error_code=ErrorCode.INVALID_REQUEST,
            error_message="Controller cannot unregister itself while it is active.",
        )
    return UnregisterControllerResponse(
        error_code=ErrorCode.CONTROLLER_ID_NOT_REGISTERED,
        error_message=f"Controller ID {request.controller_id} is not currently registered.",
    )
