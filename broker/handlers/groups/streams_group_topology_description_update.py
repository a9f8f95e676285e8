"""StreamsGroupTopologyDescriptionUpdate (93), version 0 (KIP-1331): refused, as by a Kafka without a plug-in for it."""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode
from ....protocol.messages.streams_group_topology_description_update import (
    StreamsGroupTopologyDescriptionUpdateRequest,
    StreamsGroupTopologyDescriptionUpdateResponse,
)
from ...requests.group_protocols import STREAMS_PROTOCOL, served_by
from ...requests.request_context import RequestContext


def _handle(
    context: RequestContext, request: StreamsGroupTopologyDescriptionUpdateRequest
) -> StreamsGroupTopologyDescriptionUpdateResponse:
    """Refuse the request."""
    return StreamsGroupTopologyDescriptionUpdateResponse(
        error_code=ErrorCode.UNSUPPORTED_VERSION,
        error_message="The broker has no streams group topology description plugin configured.",
    )


handle = served_by(STREAMS_PROTOCOL, _handle)
