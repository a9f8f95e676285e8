"""ShareAcknowledge (79), versions 1-2 (KIP-932).

v2 renewal, and acquisition_lock_timeout_ms.
Source: KafkaApis.handleShareAcknowledgeRequest, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Coroutine

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.share_acknowledge import (
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
)
from ....protocol.messages.share_acknowledge import ShareAcknowledgeTopicResponse as TopicResult
from ...coordinators.share.acknowledgements import AcknowledgeErrors
from ...coordinators.share.share_sessions import FINAL_EPOCH, FIRST_EPOCH
from ...requests.advertised_endpoint import endpoints_of, leaders_after_errors
from ...requests.flushed_response import after_flush
from ...requests.group_protocols import SHARE_PROTOCOL, served_by
from ...requests.observed_share import acknowledge_observed
from ...requests.request_context import RequestContext
from ...runtime.long_work import Step


def _handle(
    context: RequestContext, request: ShareAcknowledgeRequest
) -> ShareAcknowledgeResponse | Coroutine[Step, object, ShareAcknowledgeResponse]:
    """Apply a member's acknowledgements of acquired records."""
    group_id, member_id = request.group_id, request.member_id
    if group_id is None or not member_id:
        return _error_response(ErrorCode.INVALID_REQUEST)
    if request.share_session_epoch == FIRST_EPOCH:
        return _error_response(ErrorCode.INVALID_SHARE_SESSION_EPOCH)
    node = context.node
    partitions = node.coordinators.share_partitions
    try:
        session = partitions.sessions.advance(group_id, member_id, request.share_session_epoch)
    except KafkaError as error:
        return _error_response(error.code)
    acknowledged = {
        (topic.topic_id, partition.partition_index): partition.acknowledgement_batches
        for topic in request.topics
        for partition in topic.partitions
    }
    member = (group_id, member_id)
    _, errors = acknowledge_observed(context, member, acknowledged, may_renew=request.is_renew_ack)
    if request.share_session_epoch == FINAL_EPOCH:
        partitions.end_session(session)
    response = ShareAcknowledgeResponse(
        acquisition_lock_timeout_ms=partitions.settings.lock_ms(group_id), responses=_topic_results(errors)
    )
    _add_leaders(context, response)
    return after_flush(partitions.flushed(), response, _error_response)


def _topic_results(errors: AcknowledgeErrors) -> list[TopicResult]:
    topics: dict[bytes, TopicResult] = {}
    for (topic_id, index), error in errors.items():
        result = PartitionData(partition_index=index)
        if error is not None:
            result.error_code = error.code
            result.error_message = error.message or None
        topics.setdefault(topic_id, TopicResult(topic_id=topic_id)).partitions.append(result)
    return list(topics.values())


def _add_leaders(context: RequestContext, response: ShareAcknowledgeResponse) -> None:
    """Add the leaders of the partitions whose share partition was fenced, and their addresses."""
    leaders = list(leaders_after_errors(context, response.responses))
    for partition, leader in leaders:
        partition.current_leader = LeaderIdAndEpoch(leader_id=leader.leader_id, leader_epoch=leader.leader_epoch)
    endpoints = endpoints_of(leader for _, leader in leaders)
    response.node_endpoints = [NodeEndpoint(**each._asdict()) for each in endpoints]


def _error_response(error_code: ErrorCode) -> ShareAcknowledgeResponse:
    return ShareAcknowledgeResponse(error_code=error_code)


handle = served_by(SHARE_PROTOCOL, _handle)
