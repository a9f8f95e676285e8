"""StreamsGroupHeartbeat (88), versions 0-1 (KIP-1071).

v1 acceptable_recovery_lag, and the status MISSING_CLIENT_TAGS.
Source: KafkaApis.handleStreamsGroupHeartbeat and DefaultAutoTopicCreationManager, Kafka 4.4.0.
"""

from __future__ import annotations

from collections.abc import Collection, Coroutine, Mapping
from functools import partial

from ....faults.consumption.events import LeavingMember, MembersLeaving
from ....protocol.acl_types import AclOperation, ResourceType
from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.error_messages import ERROR_MESSAGES
from ....protocol.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from ....protocol.messages.streams_group_heartbeat import (
    Status,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    Topology,
)
from ....protocol.streams_status import StreamsStatus
from ...coordinators.consumer.heartbeats import Client
from ...coordinators.group.member_group import LEAVE_EPOCH, STATIC_LEAVE_EPOCH
from ...coordinators.streams.topology import InternalTopic, check_size, topics_of
from ...metadata.metadata_image import is_internal_topic
from ...metadata.topic_validation import find_topic_name_error
from ...requests.flushed_response import after_flush
from ...requests.group_protocols import STREAMS_PROTOCOL, served_by
from ...requests.permissions import may_describe_topics, permits, permits_on_cluster
from ...requests.request_context import RequestContext
from ...requests.topic_creation import create_topics
from ...runtime.deferred import Deferred
from ...runtime.long_work import Step

# Errors of the coordinator's log, of which a response says no more.
_WITHOUT_MESSAGE = frozenset({ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.COORDINATOR_NOT_AVAILABLE})
# How many failed topics a status names.
_NAMED_MAX = 3
_CREATION_TIMEOUT_MS = 30_000


def _handle(
    context: RequestContext, request: StreamsGroupHeartbeatRequest
) -> StreamsGroupHeartbeatResponse | Coroutine[Step, object, StreamsGroupHeartbeatResponse]:
    """Return the member's epoch, its tasks if they have changed, and why the application cannot run."""
    if request.topology is not None:
        error = _find_topic_error(context, request.topology)
        if error is not None:
            return _error_response(error)
    groups = context.node.coordinators.groups
    client = Client(context.client_id or "", f"/{context.connection.client_host}")
    if request.member_epoch == LEAVE_EPOCH and context.node.consumption is not None:
        leaving = [LeavingMember(request.member_id, request.instance_id, "")]
        context.node.consumption.add(MembersLeaving(request.group_id, leaving))
    try:
        response, missing = groups.streams_groups.heartbeat(request, client, context.api_version)
    except KafkaError as error:
        return _error_response(error)
    if request.member_epoch == STATIC_LEAVE_EPOCH:
        groups.clients.gone(request.group_id, request.member_id)
    else:
        groups.clients.heard(request.group_id, request.member_id, context.connection)
    flushed = groups.flushed()
    if not missing:
        return after_flush(flushed, response, _failed)
    return _create_and_respond(context, request.group_id, response, missing, flushed)


def _failed(code: ErrorCode) -> StreamsGroupHeartbeatResponse:
    return StreamsGroupHeartbeatResponse(error_code=code)


async def _create_and_respond(
    context: RequestContext,
    group_id: str,
    response: StreamsGroupHeartbeatResponse,
    missing: Mapping[str, InternalTopic],
    flushed: Deferred[ErrorCode],
) -> StreamsGroupHeartbeatResponse:
    await _create(context, group_id, response, missing)
    error_code = await flushed
    return _failed(error_code) if error_code else response


def _error_response(error: KafkaError) -> StreamsGroupHeartbeatResponse:
    message = None if error.code in _WITHOUT_MESSAGE else error.message or None
    return StreamsGroupHeartbeatResponse(error_code=error.code, error_message=message)


def _find_topic_error(context: RequestContext, topology: Topology) -> KafkaError | None:
    """Return why the topology may not use its topics, or None."""
    try:
        check_size(topology)
    except KafkaError as error:
        return error
    names = dict.fromkeys(topics_of(topology))
    internal = [name for name in names if is_internal_topic(name)]
    if internal:
        return KafkaError(
            ErrorCode.STREAMS_INVALID_TOPOLOGY,
            f"Use of Kafka internal topics {','.join(internal)} in a Kafka Streams topology is prohibited.",
        )
    invalid = [name for name in names if find_topic_name_error(name) is not None]
    if invalid:
        return KafkaError(
            ErrorCode.STREAMS_INVALID_TOPOLOGY, f"Topic names {','.join(invalid)} are not valid topic names."
        )
    return None if may_describe_topics(context, names) else KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)


async def _create(
    context: RequestContext,
    group_id: str,
    response: StreamsGroupHeartbeatResponse,
    missing: Mapping[str, InternalTopic],
) -> None:
    """Create the internal topics that are missing, if the client may. The response says what an earlier try found."""
    denied = _denied(context, missing)
    if denied:
        _add_detail(response, f"Unauthorized to CREATE on topics {', '.join(denied)}.")
        return
    known = context.node.coordinators.groups.streams_groups.creation_failures
    failures = known.find(missing)
    if failures:
        named = [f"{name} ({reason})" for name, reason in list(failures.items())[:_NAMED_MAX]]
        rest = f" and {len(failures) - _NAMED_MAX} more" if len(failures) > _NAMED_MAX else ""
        _add_detail(response, f"Creation failed: {', '.join(named)}{rest}.")
    wanted = [_creatable(topic) for name, topic in missing.items() if name not in failures]
    if not wanted or not context.node.reaches_controller:
        return
    created = await create_topics(context.node, CreateTopicsRequest(topics=wanted, timeout_ms=_CREATION_TIMEOUT_MS))
    for topic in created.topics:
        if topic.error_code:
            reason = topic.error_message or ERROR_MESSAGES[ErrorCode(topic.error_code)]
            known.add(group_id, topic.name, reason)


def _denied(context: RequestContext, names: Collection[str]) -> list[str]:
    if permits_on_cluster(context, AclOperation.CREATE):
        return []
    may_create = partial(permits, context, AclOperation.CREATE, ResourceType.TOPIC)
    return [name for name in names if not may_create(name)]


def _creatable(topic: InternalTopic) -> CreatableTopic:
    return CreatableTopic(
        name=topic.name,
        num_partitions=topic.partition_count,
        replication_factor=topic.replication_factor or -1,
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in topic.configs.items()],
    )


def _add_detail(response: StreamsGroupHeartbeatResponse, detail: str) -> None:
    """Add a detail to the status that topics are missing."""
    statuses = response.status or []
    known = next((each for each in statuses if each.status_code == StreamsStatus.MISSING_INTERNAL_TOPICS), None)
    if known is None:
        response.status = [*statuses, Status(status_code=StreamsStatus.MISSING_INTERNAL_TOPICS, status_detail=detail)]
    else:
        known.status_detail += f"; {detail}"


handle = served_by(STREAMS_PROTOCOL, _handle)
