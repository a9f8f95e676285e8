"""The members of classic, consumer and streams groups, from the records of their coordinator.

A member of a streams group has the partitions that are the input of its active tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

from ...protocol.frames import FrameError
from ...protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from ...protocol.primitives import Reader
from ...protocol.stored_records.consumer_group_records import ConsumerRecordType, read_consumer_record
from ...protocol.stored_records.consumer_group_values import CurrentAssignment, MemberMetadata
from ...protocol.stored_records.group_log_records import GroupMetadataValue, GroupRecordType
from ...protocol.stored_records.streams_group_records import (
    StreamsCurrentAssignment,
    StreamsMemberMetadata,
    StreamsRecordType,
    StreamsTopology,
    input_topics,
    read_streams_record,
)
from ...protocol.stored_records.typed_records import TypedRecord
from .events import Client
from .group_history import NO_PARTITIONS, GroupHistory, Member, TopicPartition

# The protocol type of classic groups of consumers. Others have assignments of their own form.
CONSUMER_PROTOCOL_TYPE = "consumer"
# Newer versions only add fields.
ASSIGNMENT_VERSION_MAX = 3
_CONSUMER_TYPES = frozenset(ConsumerRecordType)
_STREAMS_TYPES = frozenset(StreamsRecordType)
_METADATA_TYPES = (ConsumerRecordType.MEMBER_METADATA, StreamsRecordType.MEMBER_METADATA)


class MemberRecords:
    """Applies records to the members of groups. `begin` and `finish` enclose the records of one change."""

    def __init__(self, topic_name_of: Callable[[bytes], str | None]) -> None:
        """topic_name_of: returns the name of a topic id, None for an unknown one."""
        self._topic_name_of = topic_name_of
        # The members after the records of a change; None without a record of members.
        self._members: dict[str, Member] | None = None
        # The last request before the change.
        self._request_id = 0

    def begin(self, request_id: int) -> None:
        """Begin a change. request_id: of the last request before."""
        self._request_id = request_id

    def apply(self, group: GroupHistory, record_type: int, key: bytes, value: bytes | None) -> None:
        """Take a record of a group. Raises FrameError."""
        if record_type == GroupRecordType.GROUP_METADATA:
            self._apply_generation(group, value)
        elif record_type in _CONSUMER_TYPES:
            self._apply_member(group, read_consumer_record(key, value))
        elif record_type in _STREAMS_TYPES:
            self._apply_member(group, read_streams_record(key, value))

    def finish(self, group: GroupHistory) -> None:
        """Give the group its members after the records of a change."""
        members, self._members = self._members, None
        if members is not None:
            group.set_members(members, self._request_id, assigns_again=False)

    def _apply_generation(self, group: GroupHistory, value: bytes | None) -> None:
        if value is None:
            group.set_members({}, self._request_id, assigns_again=False)
            return
        read = GroupMetadataValue.read(value)
        members: dict[str, Member] = {}
        for each in read.members:
            is_consumer = read.protocol_type == CONSUMER_PROTOCOL_TYPE
            assigned = frozenset(_assigned_in(each.assignment)) if is_consumer else NO_PARTITIONS
            client = Client(each.client_id, each.client_host.removeprefix("/"))
            members[each.member_id] = Member(each.member_id, client, each.group_instance_id, assigned)
        is_new = read.generation != group.generation
        group.generation = read.generation
        group.set_members(members, self._request_id, assigns_again=is_new)

    def _apply_member(self, group: GroupHistory, record: TypedRecord) -> None:
        members = dict(group.members) if self._members is None else self._members
        member_id = record.name
        known = members.get(member_id)
        match record.value:
            case MemberMetadata() | StreamsMemberMetadata() as value:
                client = Client(value.client_id, value.client_host.removeprefix("/"))
                partitions = NO_PARTITIONS if known is None else known.partitions
                members[member_id] = Member(member_id, client, value.instance_id, partitions)
            case CurrentAssignment() as value if known is not None:
                members[member_id] = replace(known, partitions=frozenset(self._partitions_of(value)))
            case StreamsCurrentAssignment() as value if known is not None:
                members[member_id] = replace(known, partitions=frozenset(_inputs_of(value, group.inputs)))
            case StreamsTopology(topology):
                group.inputs = {each.subtopology_id: input_topics(each) for each in topology.subtopologies}
                return
            case None if record.record_type in _METADATA_TYPES:
                members.pop(member_id, None)
            case _:
                return
        self._members = members

    def _partitions_of(self, assignment: CurrentAssignment) -> Iterator[TopicPartition]:
        """Yield what a member has, and what it has to revoke."""
        for partitions in (assignment.assigned, assignment.pending_revocation):
            for topic_id, epochs in partitions.items():
                topic = self._topic_name_of(topic_id)
                if topic is not None:
                    yield from ((topic, each) for each in epochs)


def _inputs_of(assignment: StreamsCurrentAssignment, inputs: Mapping[str, Collection[str]]) -> Iterator[TopicPartition]:
    """Yield the input of the active tasks that a member has, and of those that it has to revoke."""
    for tasks in (assignment.assigned, assignment.pending_revocation):
        for subtopology_id, partition in tasks.active:
            yield from ((topic, partition) for topic in inputs.get(subtopology_id, ()))


def _assigned_in(assignment: bytes) -> Iterator[TopicPartition]:
    """Yield the partitions of a member's assignment; none for bytes that are not one."""
    if not assignment:
        return
    reader = Reader.of_request(assignment)
    try:
        version = min(reader.int16(), ASSIGNMENT_VERSION_MAX)
        read = ConsumerProtocolAssignment.read(reader, version)
    except FrameError:
        return
    for each in read.assigned_partitions:
        yield from ((each.topic, partition) for partition in each.partitions)
