"""Fetch (1), versions 0-18.

The followers on other nodes do not fetch by this API, see replica_fetchers.
v0 and v1 message sets of magic 0, v2 and v3 of magic 1; v3 max_bytes; v4 record batches, isolation level; v5
log_start_offset; v7 sessions (KIP-227); v9 current_leader_epoch; v11 rack; v12 flexible; v13 topic ids; v15 replica
state; v16 node endpoints; v17 directory id; v18 high watermark.
Source: KafkaApis.handleFetchRequest and ReplicaManager.fetchMessages, Kafka 4.3.0; tests/golden.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from ....protocol import fetch_codec
from ....protocol.acl_types import AclOperation, ResourceType
from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.fetch_codec import (
    BATCHES_SINCE,
    CURRENT_LEADER_SINCE,
    NO_REPLICA,
    TOPIC_IDS_SINCE,
    FetchedPartition,
    FetchedPartitions,
    FetchPartitions,
    FetchRequest,
    FetchResults,
)
from ....protocol.frames import TooManyElements
from ... import requests
from ...replica.delayed_read import DelayedRead
from ...replica.fetch_reader import FetchReader, FetchResult, FindPreferredReplica, is_enough
from ...replica.fetch_sessions import FetchSession
from ...replica.replica_selector import RACK_AWARE_SELECTOR, find_preferred_replica
from ...requests.advertised_endpoint import alive_brokers, find_leader_after
from ...requests.permissions import permits, permits_on_cluster
from ...requests.request_context import RequestContext
from ...runtime.deferred import Deferred, WaitFailed

if TYPE_CHECKING:
    from ...requests.client_quotas import ClientQuotas
    from ...requests.measured_fetch import MeasuredFetch

# Makes the response from what was read.
Respond = Callable[[RequestContext, FetchRequest, FetchSession | None, FetchResult], FetchResults]

# Topics and partitions of a request that is decoded and handled at once.
ELEMENTS_AT_ONCE = 1000
# read_uncommitted and read_committed.
ISOLATION_LEVELS = (0, 1)


def decode_at_once(frame: memoryview, position: int, end: int, version: int) -> FetchRequest | None:
    """Decode a request; None if it has very many partitions. Raises FrameError."""
    try:
        return fetch_codec.decode_request(frame, position, end, version, ELEMENTS_AT_ONCE)
    except TooManyElements:
        return None


def decode(frame: memoryview, position: int, end: int, version: int) -> FetchRequest:
    """Decode a request. Raises FrameError."""
    return fetch_codec.decode_request(frame, position, end, version)


def handle(context: RequestContext, request: FetchRequest) -> FetchResults | Awaitable[FetchResults]:
    """Read the requested partitions, and wait up to max_wait_ms for min_bytes."""
    results = _read(context, request)
    if context.api_version < BATCHES_SINCE:
        return requests.message_sets.with_message_sets(context, results)
    return results


def _read(context: RequestContext, request: FetchRequest) -> FetchResults | Awaitable[FetchResults]:
    version = context.api_version
    if request.isolation_level not in ISOLATION_LEVELS:
        return _refused(context, request)
    quotas = context.node.client_quotas
    measured = None if quotas is None else _measured(context, quotas)
    try:
        session = context.node.fetch_sessions.session_of(
            request, uses_topic_ids=version >= TOPIC_IDS_SINCE, now_ms=context.now_ms
        )
    except KafkaError as error:
        return FetchResults([], error.code)
    max_bytes = min(request.max_bytes, context.node.config.fetch_max_bytes)
    if measured is not None:
        max_bytes = measured.bytes_max(max_bytes)
    asked = request.partitions if session is None else session.asked()
    denied: FetchedPartitions = []
    if context.node.authorizer is not None:
        asked, denied = _without_denied(context, request, asked)
    reader = FetchReader(
        context.node.replicas, version, asked, max_bytes=max_bytes, isolation_level=request.isolation_level
    )
    reader.denied = denied
    reader.replica_id = request.replica_id
    if request.rack:
        reader.find_preferred = _find_selector(context, request)
    min_bytes = min(request.min_bytes, max_bytes)
    result = reader.read()
    respond = _respond if measured is None else measured.respond
    if request.max_wait_ms <= 0 or not reader.can_wait or is_enough(result, min_bytes):
        return respond(context, request, session, result)
    return _respond_later(context, request, session, _wait(reader, request, min_bytes), respond)


def _measured(context: RequestContext, quotas: ClientQuotas) -> MeasuredFetch:
    return requests.measured_fetch.MeasuredFetch(context, quotas, _respond)


def _wait(reader: FetchReader, request: FetchRequest, min_bytes: int) -> Deferred[FetchResult]:
    """Begin to wait for min_bytes."""
    waited = reader.partitions()

    def is_complete(result: FetchResult) -> bool:
        # A new topic of the same name would not wake this fetch.
        return is_enough(result, min_bytes) or any(partition.is_deleted for partition in waited)

    return DelayedRead(reader.read, is_complete, waited, request.max_wait_ms).result


async def _respond_later(
    context: RequestContext,
    request: FetchRequest,
    session: FetchSession | None,
    waited: Deferred[FetchResult],
    respond: Respond,
) -> FetchResults:
    try:
        result = await waited
    except WaitFailed:
        return _refused(context, request)
    return respond(context, request, session, result)


def _respond(
    context: RequestContext, request: FetchRequest, session: FetchSession | None, result: FetchResult
) -> FetchResults:
    """Return the changes of the session; without a session, everything and the id of a new session, if wanted."""
    if result.has_error and context.api_version >= CURRENT_LEADER_SINCE:
        _add_leaders(context, request, result.partitions)
    consumption = context.node.consumption
    if session is not None:
        error = session.find_epoch_error(request)
        if error:
            return FetchResults([], error, session.session_id)
        if consumption is not None:
            consumption.fetched(context, result.partitions)
        return FetchResults(session.changed(result.partitions), ErrorCode.NONE, session.session_id)
    if consumption is not None:
        consumption.fetched(context, result.partitions)
    uses_topic_ids = context.api_version >= TOPIC_IDS_SINCE
    session_id = context.node.fetch_sessions.create(
        request, result.partitions, uses_topic_ids=uses_topic_ids, now_ms=context.now_ms
    )
    return FetchResults(result.partitions, ErrorCode.NONE, session_id)


def _without_denied(
    context: RequestContext, request: FetchRequest, asked: FetchPartitions
) -> tuple[FetchPartitions, FetchedPartitions]:
    """Return the partitions that the client may read, and the errors of the others. An unknown id is not denied."""
    uses_topic_ids, topic_name_of = context.api_version >= TOPIC_IDS_SINCE, context.node.image.topic_name_of
    is_follower = request.replica_id > NO_REPLICA
    may_follow = is_follower and permits_on_cluster(context, AclOperation.CLUSTER_ACTION)

    def may_read(topic_key: bytes) -> bool:
        if is_follower:
            return may_follow
        name = topic_name_of(topic_key) if uses_topic_ids else topic_key.decode(errors="replace")
        return name is None or permits(context, AclOperation.READ, ResourceType.TOPIC, name)

    # A topic may have very many partitions.
    readable = {topic_key: may_read(topic_key) for topic_key in {topic_key for topic_key, _ in asked}}
    allowed: FetchPartitions = {}
    denied: FetchedPartitions = []
    for (topic_key, index), partition in asked.items():
        if readable[topic_key]:
            allowed[topic_key, index] = partition
        else:
            error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            answer = FetchedPartition(index, error, aborted_transactions=[], fetch_offset=partition.fetch_offset)
            denied.append((topic_key, answer))
    return allowed, denied


def _find_selector(context: RequestContext, request: FetchRequest) -> FindPreferredReplica | None:
    """Return what finds the replica for the client's rack, if the broker selects replicas by rack."""
    if context.node.config.value_of("replica.selector.class") != RACK_AWARE_SELECTOR:
        return None
    racks = {broker.node_id: broker.rack for broker, _ in alive_brokers(context)}
    return lambda partition, offset: find_preferred_replica(partition, offset, request.rack, racks)


def _add_leaders(context: RequestContext, request: FetchRequest, fetched: FetchedPartitions) -> None:
    """Add the leader to each partition whose error tells that the client has an old one.

    A follower gets no address.
    """
    for topic_id, partition in fetched:
        leader = find_leader_after(partition.error_code, context, topic_id, partition.index)
        if leader is not None and request.replica_id > NO_REPLICA:
            leader = leader._replace(endpoint=None)
        partition.current_leader = leader


def _refused(context: RequestContext, request: FetchRequest) -> FetchResults:
    """Return the response to a request that Kafka fails on as a whole (FetchRequest.getErrorResponse)."""
    error = ErrorCode.UNKNOWN_SERVER_ERROR
    asked = request.partitions if context.api_version < TOPIC_IDS_SINCE else {}
    return FetchResults([(key, FetchedPartition(index, error, aborted_transactions=[])) for key, index in asked], error)
