"""The only member of a group of the raw client, with the classic protocol: it joins, assigns itself, and commits."""

from __future__ import annotations

from ...broker.coordinators.internal_topics import CoordinatorType
from ...protocol.api_keys import ApiKey
from ...protocol.consumer_protocol import VERSION_MAX
from ...protocol.error_codes import ErrorCode
from ...protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment, TopicPartition
from ...protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from ...protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from ...protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from ...protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic, OffsetFetchResponse
from ...protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from ...protocol.primitives import Writer
from .client import ClientStuck
from .consumer import ConsumerOptions
from .raw_coordinator import CoordinatorApi, RawCoordinator

# More than a scenario takes: the member sends no heartbeats.
SESSION_TIMEOUT_MS = 60_000
_REJOINS = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION, ErrorCode.REBALANCE_IN_PROGRESS)

# The last version in which a member joins without having been given its id.
_JOIN = CoordinatorApi(ApiKey.JOIN_GROUP, 3, JoinGroupResponse.read, lambda answer: answer.error_code)
_SYNC = CoordinatorApi(ApiKey.SYNC_GROUP, 2, SyncGroupResponse.read, lambda answer: answer.error_code)
_FETCH = CoordinatorApi(ApiKey.OFFSET_FETCH, 5, OffsetFetchResponse.read, lambda answer: answer.error_code)
_LEAVE = CoordinatorApi(ApiKey.LEAVE_GROUP, 2, LeaveGroupResponse.read, lambda answer: answer.error_code)
_COMMIT = CoordinatorApi(
    ApiKey.OFFSET_COMMIT, 6, OffsetCommitResponse.read, lambda answer: answer.topics[0].partitions[0].error_code
)


class RawGroupMember:
    """A member of a group that owns partition 0 of its topic."""

    def __init__(self, options: ConsumerOptions, group: str) -> None:
        """Join the group. Raises ClientStuck."""
        self._options = options
        self._group = group
        self._coordinator = RawCoordinator(options.bootstrap_servers, options.process, CoordinatorType.GROUP, group)
        self._member_id = ""
        self._generation_id = -1
        self._join()

    def fetch_offset(self) -> int:
        """Return the committed offset, 0 without one."""
        topics = [OffsetFetchRequestTopic(name=self._options.topic, partition_indexes=[0])]
        answer = self._coordinator.ask(_FETCH, OffsetFetchRequest(group_id=self._group, topics=topics))
        return max(answer.topics[0].partitions[0].committed_offset, 0)

    def commit(self, offset: int) -> None:
        """Commit an offset; joins again if the group has removed this member. Raises ClientStuck."""
        code = self._commit(offset)
        if code in _REJOINS:
            self._options.note(f"the commit is refused with {code.name}: joins the group again")
            self._join()
            code = self._commit(offset)
        if code is not ErrorCode.NONE:
            raise ClientStuck(f"{self._options.process} cannot commit offset {offset}: {code.name}")

    def kill(self) -> None:
        """Close the connection without leaving the group."""
        self._member_id = ""
        self.close()

    def close(self) -> None:
        """Leave the group, and close the connection."""
        if self._member_id:
            request = LeaveGroupRequest(group_id=self._group, member_id=self._member_id)
            self._member_id = ""
            self._coordinator.ask(_LEAVE, request)
        self._coordinator.close()

    def _commit(self, offset: int) -> ErrorCode:
        partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
        request = OffsetCommitRequest(
            group_id=self._group,
            generation_id_or_member_epoch=self._generation_id,
            member_id=self._member_id,
            topics=[OffsetCommitRequestTopic(name=self._options.topic, partitions=[partition])],
        )
        return ErrorCode(_COMMIT.error_code_of(self._coordinator.ask(_COMMIT, request)))

    def _join(self) -> None:
        joined = self._coordinator.ask(
            _JOIN,
            JoinGroupRequest(
                group_id=self._group,
                session_timeout_ms=SESSION_TIMEOUT_MS,
                rebalance_timeout_ms=SESSION_TIMEOUT_MS,
                protocol_type="consumer",
                protocols=[JoinGroupRequestProtocol(name="range")],
            ),
        )
        if joined.error_code:
            raise ClientStuck(f"JoinGroup returned {ErrorCode(joined.error_code).name}")
        self._member_id, self._generation_id = joined.member_id, joined.generation_id
        request = SyncGroupRequest(
            group_id=self._group,
            generation_id=self._generation_id,
            member_id=self._member_id,
            assignments=[SyncGroupRequestAssignment(member_id=self._member_id, assignment=self._assignment())],
        )
        synced = self._coordinator.ask(_SYNC, request)
        if synced.error_code:
            raise ClientStuck(f"SyncGroup returned {ErrorCode(synced.error_code).name}")

    def _assignment(self) -> bytes:
        """Return the assignment of the only partition."""
        partitions = [TopicPartition(topic=self._options.topic, partitions=[0])]
        writer = Writer()
        writer.int16(VERSION_MAX)
        ConsumerProtocolAssignment(assigned_partitions=partitions).write(writer, VERSION_MAX)
        return writer.getvalue()
