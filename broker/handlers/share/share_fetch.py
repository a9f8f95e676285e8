"""ShareFetch (78), versions 1-2 (KIP-932).

v2 share_acquire_mode and renewal.
Source: KafkaApis.handleShareFetchRequest, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.share_fetch import AcknowledgementBatch, PartitionData, ShareFetchRequest, ShareFetchResponse
from ....protocol.messages.share_fetch import AcquiredRecords as AcquiredAnswer
from ....protocol.messages.share_fetch import ShareFetchableTopicResponse as TopicAnswer
from ...coordinators.share.acknowledgements import Refusals, acknowledge
from ...coordinators.share.share_fetching import DelayedShareFetch, Fetched, ShareFetching, ShareFetchLimits, is_enough
from ...coordinators.share.share_sessions import FINAL_EPOCH, FIRST_EPOCH, PartitionKey, ShareSession
from ...requests.request_context import ApiHandler, RequestContext
from ...runtime.deferred import Deferred

# The acquire mode in which no more records are acquired than were asked for.
RECORD_LIMIT = 1


def handle(context: RequestContext, request: ShareFetchRequest) -> ShareFetchResponse | Deferred[ShareFetchResponse]:
    """Take what is acknowledged, and acquire records; wait up to max_wait_ms for the first."""
    group_id, member_id = request.group_id, request.member_id
    if group_id is None or not member_id or _is_contradictory(request):
        return ShareFetchResponse(error_code=ErrorCode.INVALID_REQUEST)
    node = context.node
    if any(node.image.find_topic_by_id(topic.topic_id) is None for topic in request.topics):
        return ShareFetchResponse(error_code=ErrorCode.UNKNOWN_SERVER_ERROR)
    acknowledged = _acknowledged(request)
    if request.share_session_epoch == FIRST_EPOCH and acknowledged:
        return ShareFetchResponse(error_code=ErrorCode.INVALID_REQUEST)
    groups = node.coordinators.groups.share_groups
    try:
        session = _session(context, request, (group_id, member_id))
    except KafkaError as error:
        return ShareFetchResponse(error_code=error.code)
    member = (group_id, member_id)
    refusals = acknowledge(node.replicas, groups, member, acknowledged, may_renew=request.is_renew_ack)
    if request.share_session_epoch == FINAL_EPOCH:
        groups.end_session(session)
    keys = [] if _wants_nothing(request) else list(session.partitions)
    limits = ShareFetchLimits(
        max_bytes=request.max_bytes,
        records_max=request.max_records,
        batch_size=request.batch_size,
        is_strict=request.share_acquire_mode == RECORD_LIMIT,
    )
    fetching = ShareFetching(node.replicas, groups, member, keys, limits)
    fetched = fetching.fetch()

    def answer(fetched: Fetched) -> ShareFetchResponse:
        return ShareFetchResponse(
            acquisition_lock_timeout_ms=groups.settings.lock_ms(group_id), responses=_answers(refusals, fetched)
        )

    if not keys or refusals or request.max_wait_ms <= 0 or is_enough(fetched):
        return groups.when_durable(answer(fetched), _refused)
    return DelayedShareFetch(fetching, request.max_wait_ms).answer.encoded_by(answer)


def _is_contradictory(request: ShareFetchRequest) -> bool:
    """Whether the request renews locks, and asks for records too."""
    return request.is_renew_ack and any(
        (request.max_wait_ms, request.min_bytes, request.max_bytes, request.max_records)
    )


def _wants_nothing(request: ShareFetchRequest) -> bool:
    return request.share_session_epoch == FINAL_EPOCH or request.max_records <= 0 or request.is_renew_ack


def _acknowledged(request: ShareFetchRequest) -> dict[PartitionKey, Sequence[AcknowledgementBatch]]:
    return {
        (topic.topic_id, partition.partition_index): partition.acknowledgement_batches
        for topic in request.topics
        for partition in topic.partitions
        if partition.acknowledgement_batches
    }


def _session(context: RequestContext, request: ShareFetchRequest, member: tuple[str, str]) -> ShareSession:
    """Return the session as it is after the request; raises KafkaError, see ShareSessions."""
    groups = context.node.coordinators.groups.share_groups
    sessions = groups.sessions
    epoch = request.share_session_epoch
    if epoch == FIRST_EPOCH:
        session = sessions.begin(*member, context.connection.connection_id)
        context.connection.on_closed = partial(groups.end_sessions, context.connection.connection_id)
    else:
        session = sessions.continued(*member, epoch)
    for topic in request.topics:
        for partition in topic.partitions:
            session.partitions[topic.topic_id, partition.partition_index] = None
    for forgotten in request.forgotten_topics_data:
        for index in forgotten.partitions:
            session.partitions.pop((forgotten.topic_id, index), None)
    return session


def _answers(refusals: Refusals, fetched: Fetched) -> list[TopicAnswer]:
    """Return an entry for each partition of which anything was acknowledged, acquired or refused."""
    partitions: dict[PartitionKey, PartitionData] = {}
    for key, refusal in refusals.items():
        answer = partitions.setdefault(key, PartitionData(partition_index=key[1]))
        if refusal is not None:
            answer.acknowledge_error_code = refusal.code
            answer.acknowledge_error_message = refusal.message or None
    for key, got in fetched.items():
        if isinstance(got, KafkaError):
            partitions.setdefault(key, PartitionData(partition_index=key[1])).error_code = got.code
        elif got.acquired:
            answer = partitions.setdefault(key, PartitionData(partition_index=key[1]))
            answer.records = got.records
            answer.acquired_records = [
                AcquiredAnswer(first_offset=first, last_offset=last, delivery_count=count)
                for first, last, count in got.acquired
            ]
    topics: dict[bytes, TopicAnswer] = {}
    for (topic_id, _), answer in partitions.items():
        topics.setdefault(topic_id, TopicAnswer(topic_id=topic_id)).partitions.append(answer)
    return list(topics.values())


def _refused(error_code: ErrorCode) -> ShareFetchResponse:
    return ShareFetchResponse(error_code=error_code)


HANDLER = ApiHandler(ShareFetchRequest.read, handle)
