"""The checks of a StreamsGroupHeartbeat before the group changes.

Source: GroupCoordinatorService.throwIfStreamsGroupHeartbeatRequestIsInvalid and its neighbours, and
GroupMetadataManager.throwIfRequestContainsInvalidTasks, Kafka 4.4.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....security.java_text import is_blank
from ..group.member_group import JOIN_EPOCH, STATIC_LEAVE_EPOCH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ....protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest, TaskIds, Topology
    from .topology import ConfiguredTopology

# The value of RebalanceTimeoutMs in a request without one.
_NO_TIMEOUT = -1


def check_request(request: StreamsGroupHeartbeatRequest, *, is_complete: bool) -> None:
    """Raise KafkaError INVALID_REQUEST or STREAMS_INVALID_TOPOLOGY for missing or invalid fields.

    is_complete: see ReleaseRules.completes_streams_groups.
    """
    if not is_complete:
        _check_early_request(request)
    if request.topology is not None and any(each.source_topic_regex for each in request.topology.subtopologies):
        raise _invalid("Regular expressions for source topics are not supported yet.")
    _check_texts(request)
    if request.member_epoch == JOIN_EPOCH:
        _check_join(request)
    elif request.member_epoch == STATIC_LEAVE_EPOCH and request.instance_id is None:
        raise _invalid("InstanceId can't be null.")
    elif request.member_epoch < STATIC_LEAVE_EPOCH:
        raise _invalid(f"MemberEpoch is {request.member_epoch}, but must be greater than or equal to -2.")
    if len({tasks is None for tasks in _tasks_by_name(request).values()}) > 1:
        raise _invalid("If one task-type is non-null, all must be non-null.")
    if request.member_epoch != JOIN_EPOCH and request.topology is not None:
        raise _invalid("Topology can only be provided when (re-)joining.")


def _check_early_request(request: StreamsGroupHeartbeatRequest) -> None:
    """Raise KafkaError INVALID_REQUEST for what Kafka 4.3 does not support yet."""
    if request.instance_id is not None:
        raise _invalid("Static membership is not yet supported.")
    if request.task_offsets is not None:
        raise _invalid("TaskOffsets are not supported yet.")
    if request.task_end_offsets is not None:
        raise _invalid("TaskEndOffsets are not supported yet.")
    if request.warmup_tasks:
        raise _invalid("WarmupTasks are not supported yet.")


def _check_texts(request: StreamsGroupHeartbeatRequest) -> None:
    for name, text in (
        ("MemberId", request.member_id),
        ("GroupId", request.group_id),
        ("InstanceId", request.instance_id),
        ("RackId", request.rack_id),
    ):
        if text is not None and is_blank(text):
            raise _invalid(f"{name} can't be empty.")


def _check_join(request: StreamsGroupHeartbeatRequest) -> None:
    if request.rebalance_timeout_ms == _NO_TIMEOUT:
        raise _invalid("RebalanceTimeoutMs must be provided in first request.")
    for name, tasks in _tasks_by_name(request).items():
        if tasks is None or tasks:
            raise _invalid(f"{name} must be empty when (re-)joining.")
    if request.topology is None:
        raise _invalid("Topology must be non-null when (re-)joining.")
    _check_changelogs(request.topology)


def _tasks_by_name(request: StreamsGroupHeartbeatRequest) -> Mapping[str, Sequence[TaskIds] | None]:
    return {
        "ActiveTasks": request.active_tasks,
        "StandbyTasks": request.standby_tasks,
        "WarmupTasks": request.warmup_tasks,
    }


def _check_changelogs(topology: Topology) -> None:
    for subtopology in topology.subtopologies:
        for topic in subtopology.state_changelog_topics:
            if topic.partitions:
                raise KafkaError(
                    ErrorCode.STREAMS_INVALID_TOPOLOGY,
                    f"Changelog topic {topic.name} must have an undefined partition count, but it is set to "
                    f"{topic.partitions}.",
                )


def check_tasks(configured: ConfiguredTopology, request: StreamsGroupHeartbeatRequest) -> None:
    """Raise KafkaError INVALID_REQUEST for a task that the topology does not have."""
    for tasks in _tasks_by_name(request).values():
        for each in tasks or ():
            subtopology = configured.subtopologies.get(each.subtopology_id)
            if subtopology is None:
                raise _invalid(f"Subtopology {each.subtopology_id} does not exist in the topology.")
            for partition in each.partitions:
                if not 0 <= partition < subtopology.task_count:
                    raise _invalid(
                        f"Task {partition} for subtopology {each.subtopology_id} is invalid. Number of tasks for this "
                        f"subtopology: {subtopology.task_count}"
                    )


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)
