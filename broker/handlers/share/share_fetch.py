"""ShareFetch (78), versions 1-2 (KIP-932).

v2 share_acquire_mode and renewal.
Source: KafkaApis.handleShareFetchRequest, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from functools import partial

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.share_fetch import (
    AcknowledgementBatch,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ShareFetchRequest,
    ShareFetchResponse,
)
from ....protocol.messages.share_fetch import AcquiredRecords as AcquiredResult
from ....protocol.messages.share_fetch import ShareFetchableTopicResponse as TopicResult
from ...coordinators.share.acknowledgements import AcknowledgeErrors
from ...coordinators.share.share_fetcher import Fetched, ShareFetcher, ShareFetchLimits
from ...coordinators.share.share_sessions import FINAL_EPOCH, FIRST_EPOCH, PartitionKey, ShareSession
from ...replica.delayed_read import DelayedRead
from ...requests.advertised_endpoint import endpoints_of, leaders_after_errors
from ...requests.flushed_response import after_flush
from ...requests.group_protocols import SHARE_PROTOCOL, served_by
from ...requests.observed_share import acknowledge_observed
from ...requests.request_context import RequestContext
from ...runtime.deferred import Deferred
from ...runtime.long_work import Step

# The share_acquire_mode that acquires at most max_records records.
RECORD_LIMIT = 1


def _handle(
    context: RequestContext, request: ShareFetchRequest
) -> ShareFetchResponse | Coroutine[Step, object, ShareFetchResponse]:
    """Apply acknowledgements and acquire records. Wait up to max_wait_ms for min_bytes."""
    group_id, member_id = request.group_id, request.member_id
    if group_id is None or not member_id or _is_contradictory(request):
        return ShareFetchResponse(error_code=ErrorCode.INVALID_REQUEST)
    node = context.node
    if any(node.image.find_topic_by_id(topic.topic_id) is None for topic in request.topics):
        return ShareFetchResponse(error_code=ErrorCode.UNKNOWN_SERVER_ERROR)
    acknowledged = _acknowledged(request)
    if request.share_session_epoch == FIRST_EPOCH and acknowledged:
        return ShareFetchResponse(error_code=ErrorCode.INVALID_REQUEST)
    partitions = node.coordinators.share_partitions
    try:
        session = _session(context, request, (group_id, member_id))
    except KafkaError as error:
        return ShareFetchResponse(error_code=error.code)
    member = (group_id, member_id)
    observed, errors = acknowledge_observed(context, member, acknowledged, may_renew=request.is_renew_ack)
    if request.share_session_epoch == FINAL_EPOCH:
        partitions.end_session(session)
    keys = [] if _wants_nothing(request) else session.fetch_order(request.share_session_epoch)
    limits = ShareFetchLimits(
        min_bytes=request.min_bytes,
        max_bytes=request.max_bytes,
        records_max=request.max_records,
        batch_size=request.batch_size,
        is_strict=request.share_acquire_mode == RECORD_LIMIT,
    )
    fetcher = ShareFetcher(node.replicas, partitions, member, keys, limits)

    def respond() -> ShareFetchResponse:
        fetched = fetcher.fetch()
        observed.acquired(fetched)
        response = ShareFetchResponse(
            acquisition_lock_timeout_ms=partitions.settings.lock_ms(group_id),
            responses=_topic_results(session, fetched, errors),
        )
        _add_leaders(context, response)
        return response

    may_wait = bool(keys) and request.max_wait_ms > 0
    if may_wait and not fetcher.initialize_until_enough():
        # Both waits begin now.
        return _respond_later(_wait(fetcher, request.max_wait_ms), partitions.flushed(), respond)
    response = respond()
    # For the next request.
    fetcher.initialize_all()
    return after_flush(partitions.flushed(), response, _error_response)


async def _respond_later(
    waited: Deferred[bool], flushed: Deferred[ErrorCode], respond: Callable[[], ShareFetchResponse]
) -> ShareFetchResponse:
    """Respond at the end of the waits. After a failed flush no records are acquired."""
    await waited
    response = ShareFetchResponse() if flushed.response() else respond()
    flush_error = await flushed
    return _error_response(flush_error) if flush_error else response


def _wait(fetcher: ShareFetcher, max_wait_ms: int) -> Deferred[bool]:
    """Return what completes with enough records or the deletion of a partition, at the latest after max_wait_ms."""
    waited = fetcher.waited_partitions()
    sources = [source for pair in waited for source in pair]

    def ends_wait() -> bool:
        return fetcher.has_enough() or any(partition.is_deleted for partition, _ in waited)

    return DelayedRead(ends_wait, bool, sources, max_wait_ms).result


def _is_contradictory(request: ShareFetchRequest) -> bool:
    """Return whether the request both renews locks and fetches records."""
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
    """Create or update the member's share session. Raises KafkaError as ShareSessions does."""
    partitions = context.node.coordinators.share_partitions
    sessions = partitions.sessions
    epoch = request.share_session_epoch
    if epoch == FIRST_EPOCH:
        session = sessions.create(*member, context.connection.connection_id)
        context.connection.on_closed = partial(partitions.end_sessions, context.connection.connection_id)
    else:
        session = sessions.advance(*member, epoch)
    for topic in request.topics:
        for partition in topic.partitions:
            session.partitions.setdefault((topic.topic_id, partition.partition_index), True)
    for forgotten in request.forgotten_topics_data:
        for index in forgotten.partitions:
            session.partitions.pop((forgotten.topic_id, index), None)
    return session


def _topic_results(session: ShareSession, fetched: Fetched, errors: AcknowledgeErrors) -> list[TopicResult]:
    """Return the results of the partitions with acquired records, an error or an acknowledgement, and of new ones."""
    partitions: dict[PartitionKey, PartitionData] = {}
    for key, got in fetched.items():
        has_error = isinstance(got, KafkaError)
        acquired = [] if isinstance(got, KafkaError) else got.acquired
        if not session.is_sent(key, has_records=bool(acquired), has_error=has_error):
            continue
        result = partitions[key] = PartitionData(partition_index=key[1])
        if isinstance(got, KafkaError):
            result.error_code = got.code
            continue
        result.records = got.records
        result.acquired_records = [
            AcquiredResult(first_offset=first, last_offset=last, delivery_count=count)
            for first, last, count in acquired
        ]
    for key, error in errors.items():
        result = partitions.setdefault(key, PartitionData(partition_index=key[1]))
        if error is not None:
            result.acknowledge_error_code = error.code
            result.acknowledge_error_message = error.message or None
    topics: dict[bytes, TopicResult] = {}
    for (topic_id, _), result in partitions.items():
        topics.setdefault(topic_id, TopicResult(topic_id=topic_id)).partitions.append(result)
    return list(topics.values())


def _add_leaders(context: RequestContext, response: ShareFetchResponse) -> None:
    """Add the leaders of the partitions that another node leads, and their addresses in the order of their ids."""
    leaders = list(leaders_after_errors(context, response.responses))
    for partition, leader in leaders:
        partition.current_leader = LeaderIdAndEpoch(leader_id=leader.leader_id, leader_epoch=leader.leader_epoch)
    endpoints = endpoints_of(leader for _, leader in leaders)
    response.node_endpoints = [NodeEndpoint(**each._asdict()) for each in endpoints]


def _error_response(error_code: ErrorCode) -> ShareFetchResponse:
    return ShareFetchResponse(error_code=error_code)


handle = served_by(SHARE_PROTOCOL, _handle)
