"""ShareAcknowledge (79), versions 1-2 (KIP-932).

v2 renewal, and acquisition_lock_timeout_ms.
Source: KafkaApis.handleShareAcknowledgeRequest, Kafka 4.3.0.
"""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.share_acknowledge import PartitionData, ShareAcknowledgeRequest, ShareAcknowledgeResponse
from ....protocol.messages.share_acknowledge import ShareAcknowledgeTopicResponse as TopicAnswer
from ...coordinators.share.acknowledgements import Refusals, acknowledge
from ...coordinators.share.share_sessions import FINAL_EPOCH, FIRST_EPOCH
from ...requests.request_context import ApiHandler, RequestContext
from ...runtime.deferred import Deferred


def handle(
    context: RequestContext, request: ShareAcknowledgeRequest
) -> ShareAcknowledgeResponse | Deferred[ShareAcknowledgeResponse]:
    """Take what a member says of records that it has."""
    group_id, member_id = request.group_id, request.member_id
    if group_id is None or not member_id:
        return _refused(ErrorCode.INVALID_REQUEST)
    if request.share_session_epoch == FIRST_EPOCH:
        return _refused(ErrorCode.INVALID_SHARE_SESSION_EPOCH)
    node = context.node
    groups = node.coordinators.groups.share_groups
    try:
        session = groups.sessions.continued(group_id, member_id, request.share_session_epoch)
    except KafkaError as error:
        return _refused(error.code)
    acknowledged = {
        (topic.topic_id, partition.partition_index): partition.acknowledgement_batches
        for topic in request.topics
        for partition in topic.partitions
    }
    refusals = acknowledge(node.replicas, groups, (group_id, member_id), acknowledged, may_renew=request.is_renew_ack)
    if request.share_session_epoch == FINAL_EPOCH:
        groups.end_session(session)
    response = ShareAcknowledgeResponse(
        acquisition_lock_timeout_ms=groups.settings.lock_ms(group_id), responses=_answers(refusals)
    )
    return groups.when_durable(response, _refused)


def _answers(refusals: Refusals) -> list[TopicAnswer]:
    topics: dict[bytes, TopicAnswer] = {}
    for (topic_id, index), refusal in refusals.items():
        answer = PartitionData(partition_index=index)
        if refusal is not None:
            answer.error_code = refusal.code
            answer.error_message = refusal.message or None
        topics.setdefault(topic_id, TopicAnswer(topic_id=topic_id)).partitions.append(answer)
    return list(topics.values())


def _refused(error_code: ErrorCode) -> ShareAcknowledgeResponse:
    return ShareAcknowledgeResponse(error_code=error_code)


HANDLER = ApiHandler(ShareAcknowledgeRequest.read, handle)
