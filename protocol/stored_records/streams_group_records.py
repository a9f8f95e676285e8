"""Records of __consumer_offsets for streams groups (KIP-1071). typed_records has what they share with other groups.

Tasks are in ascending order of their subtopology and their partition. The topology, the endpoint, the tags and the
tasks of a target assignment are written as StreamsGroupHeartbeat 0 has them.
Source: StreamsCoordinatorRecordHelpers and the definitions in group-coordinator/src/main/resources/common/message,
Kafka 4.4.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple, Self

from ..messages.streams_group_heartbeat import Endpoint, KeyValue, Subtopology, Topology
from ..primitives import INT32, Reader, Writer
from .consumer_group_values import TargetAssignmentMetadata
from .typed_records import TypedRecord, TypedRecordType

# An epoch of a topology, if there is none.
NO_EPOCH = -1

_MESSAGE_VERSION = 0
_VALIDATED_TAG, _CONFIGS_TAG, _STORED_TAG, _FAILED_TAG = range(4)
_EPOCHS_TAG = 0
_TASKS_BYTES_MIN = 3
_KEY_VALUE_BYTES_MIN = 3


class StreamsRecordType(TypedRecordType):
    """The type of a record, as the log stores it."""

    GROUP_METADATA = 17
    MEMBER_METADATA = 19
    TARGET_ASSIGNMENT_METADATA = 20
    TARGET_ASSIGNMENT_MEMBER = 21
    CURRENT_MEMBER_ASSIGNMENT = 22
    TOPOLOGY = 23


class Task(NamedTuple):
    """A part of an application: one partition of the input of a subtopology."""

    subtopology_id: str
    partition: int


Tasks = frozenset[Task]
NO_TASKS: Tasks = frozenset()
# The group epoch in which each task was assigned.
TaskEpochs = Mapping[Task, int]
NO_TAGS: Mapping[str, str] = MappingProxyType({})
NO_TASK_EPOCHS: TaskEpochs = MappingProxyType({})


def by_subtopology(tasks: Iterable[Task]) -> dict[str, list[int]]:
    """Return the partitions of each subtopology, in ascending order of both."""
    partitions: dict[str, list[int]] = {}
    for task in sorted(tasks):
        partitions.setdefault(task.subtopology_id, []).append(task.partition)
    return partitions


def input_topics(subtopology: Subtopology) -> list[str]:
    """Return the topics whose partitions are the input of the subtopology's tasks."""
    return [*subtopology.source_topics, *(topic.name for topic in subtopology.repartition_source_topics)]


class TargetTasks(NamedTuple):
    """The tasks that a member gets, or reports."""

    active: Tasks = NO_TASKS
    standby: Tasks = NO_TASKS
    warmup: Tasks = NO_TASKS

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the fields. Raises FrameError."""
        tasks = cls(*(frozenset(_read_tasks(reader)) for _ in range(3)))
        reader.skip_tagged_fields()
        return tasks

    def write(self, writer: Writer) -> None:
        """Write the fields."""
        for tasks in self:
            _write_tasks(writer, tasks)
        writer.no_tagged_fields()


class CurrentTasks(NamedTuple):
    """The tasks that a member has. Active ones have the epoch in which they were assigned."""

    active: TaskEpochs = NO_TASK_EPOCHS
    standby: Tasks = NO_TASKS
    warmup: Tasks = NO_TASKS


NO_CURRENT_TASKS = CurrentTasks()


@dataclass(frozen=True, slots=True)
class StreamsGroupMetadata:
    """The epoch of a group and what it stands for.

    metadata_hash: of the group's topics. validated_topology_epoch: of the topology whose topics exist as it needs them.
    assignment_configs: those of the last target assignment, by key; None as of Kafka 4.1. stored_description_epoch,
    failed_description_epoch: of the topology whose description a plug-in has taken or refused (KIP-1331).
    """

    epoch: int
    metadata_hash: int = 0
    validated_topology_epoch: int = NO_EPOCH
    assignment_configs: Mapping[str, str] | None = None
    stored_description_epoch: int = NO_EPOCH
    failed_description_epoch: int = NO_EPOCH

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the fields. Raises FrameError."""
        epoch, metadata_hash = reader.int32(), reader.int64()
        tagged = reader.tagged_fields(
            {
                _VALIDATED_TAG: Reader.int32,
                _CONFIGS_TAG: _read_nullable_configs,
                _STORED_TAG: Reader.int32,
                _FAILED_TAG: Reader.int32,
            }
        )
        configs = tagged.get(_CONFIGS_TAG)
        return cls(
            epoch,
            metadata_hash,
            _epoch(tagged.get(_VALIDATED_TAG)),
            configs if isinstance(configs, Mapping) else None,
            _epoch(tagged.get(_STORED_TAG)),
            _epoch(tagged.get(_FAILED_TAG)),
        )

    def write(self, writer: Writer) -> None:
        """Write the fields."""
        writer.int32(self.epoch)
        writer.int64(self.metadata_hash)
        tagged: list[tuple[int, Writer]] = []
        for tag, value in (
            (_VALIDATED_TAG, self.validated_topology_epoch),
            (_STORED_TAG, self.stored_description_epoch),
            (_FAILED_TAG, self.failed_description_epoch),
        ):
            if value != NO_EPOCH:
                tagged.append((tag, Writer()))
                tagged[-1][1].int32(value)
        if self.assignment_configs is not None:
            configs = Writer()
            _write_key_values(configs, self.assignment_configs)
            tagged.append((_CONFIGS_TAG, configs))
        writer.tagged_fields(sorted(tagged, key=lambda field: field[0]))


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsMemberMetadata:
    """The fields of a member's heartbeats. client_host: as Java prints an address, "/127.0.0.1"."""

    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    topology_epoch: int = NO_EPOCH
    process_id: str = ""
    user_endpoint: tuple[str, int] | None = None
    client_tags: Mapping[str, str] = field(default_factory=lambda: NO_TAGS)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the fields. Raises FrameError."""
        metadata = cls(
            instance_id=reader.compact_nullable_string(),
            rack_id=reader.compact_nullable_string(),
            client_id=reader.compact_string(),
            client_host=reader.compact_string(),
            rebalance_timeout_ms=reader.int32(),
            topology_epoch=reader.int32(),
            process_id=reader.compact_string(),
            user_endpoint=None if reader.is_null_struct() else _endpoint(Endpoint.read(reader, _MESSAGE_VERSION)),
            client_tags=_read_key_values(reader),
        )
        reader.skip_tagged_fields()
        return metadata

    def write(self, writer: Writer) -> None:
        """Write the fields."""
        writer.compact_nullable_string(self.instance_id)
        writer.compact_nullable_string(self.rack_id)
        writer.compact_string(self.client_id)
        writer.compact_string(self.client_host)
        writer.int32(self.rebalance_timeout_ms)
        writer.int32(self.topology_epoch)
        writer.compact_string(self.process_id)
        if self.user_endpoint is None:
            writer.null_struct()
        else:
            writer.present_struct()
            Endpoint(host=self.user_endpoint[0], port=self.user_endpoint[1]).write(writer, _MESSAGE_VERSION)
        _write_key_values(writer, dict(sorted(self.client_tags.items())))
        writer.no_tagged_fields()


NEW_MEMBER = StreamsMemberMetadata()


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsCurrentAssignment:
    """The current assignment of a member. state: the number of a MemberState."""

    member_epoch: int
    previous_member_epoch: int
    state: int
    assigned: CurrentTasks = NO_CURRENT_TASKS
    pending_revocation: CurrentTasks = NO_CURRENT_TASKS

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the fields. Raises FrameError. An active task without an epoch (before 4.3) gets the member's."""
        member_epoch, previous_member_epoch, state = reader.int32(), reader.int32(), reader.int8()
        current = cls(
            member_epoch=member_epoch,
            previous_member_epoch=previous_member_epoch,
            state=state,
            assigned=_read_current_tasks(reader, member_epoch),
            pending_revocation=_read_current_tasks(reader, member_epoch),
        )
        reader.skip_tagged_fields()
        return current

    def write(self, writer: Writer) -> None:
        """Write the fields."""
        writer.int32(self.member_epoch)
        writer.int32(self.previous_member_epoch)
        writer.int8(self.state)
        for tasks in (self.assigned, self.pending_revocation):
            _write_tasks(writer, tasks.active, tasks.active)
            _write_tasks(writer, tasks.standby)
            _write_tasks(writer, tasks.warmup)
        writer.no_tagged_fields()


@dataclass(frozen=True, slots=True)
class StreamsTopology:
    """The topology that the first member has sent."""

    topology: Topology

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the fields. Raises FrameError."""
        return cls(Topology.read(reader, _MESSAGE_VERSION))

    def write(self, writer: Writer) -> None:
        """Write the fields."""
        self.topology.write(writer, _MESSAGE_VERSION)


def _epoch(value: object) -> int:
    return value if isinstance(value, int) else NO_EPOCH


def _endpoint(endpoint: Endpoint) -> tuple[str, int]:
    return endpoint.host, endpoint.port


def _read_key_values(reader: Reader) -> dict[str, str]:
    read = (
        KeyValue.read(reader, _MESSAGE_VERSION) for _ in range(reader.array_length(_KEY_VALUE_BYTES_MIN, flexible=True))
    )
    return {each.key: each.value for each in read}


def _read_nullable_configs(reader: Reader) -> Mapping[str, str] | None:
    read = reader.nullable_struct_array(KeyValue, _MESSAGE_VERSION, _KEY_VALUE_BYTES_MIN, flexible=True)
    return None if read is None else {each.key: each.value for each in read}


def _write_key_values(writer: Writer, values: Mapping[str, str]) -> None:
    pairs = [KeyValue(key=key, value=value) for key, value in values.items()]
    writer.struct_array(pairs, _MESSAGE_VERSION, flexible=True)


def _read_current_tasks(reader: Reader, member_epoch: int) -> CurrentTasks:
    active = {task: member_epoch if epoch is None else epoch for task, epoch in _read_tasks(reader).items()}
    return CurrentTasks(active, frozenset(_read_tasks(reader)), frozenset(_read_tasks(reader)))


def _read_tasks(reader: Reader) -> dict[Task, int | None]:
    """Return the tasks, and the epochs in which they were assigned, where the record has them."""
    tasks: dict[Task, int | None] = {}
    for _ in range(reader.array_length(_TASKS_BYTES_MIN, flexible=True)):
        subtopology_id = reader.compact_string()
        partitions = reader.integer_array(INT32, flexible=True)
        epochs: Sequence[int | None] | None = reader.tagged_fields({_EPOCHS_TAG: _read_nullable_int32s}).get(
            _EPOCHS_TAG
        )
        if epochs is None or len(epochs) != len(partitions):
            epochs = [None] * len(partitions)
        tasks |= {Task(subtopology_id, each): epoch for each, epoch in zip(partitions, epochs, strict=True)}
    return tasks


def _read_nullable_int32s(reader: Reader) -> list[int] | None:
    return reader.nullable_integer_array(INT32, flexible=True)


def _write_tasks(writer: Writer, tasks: Iterable[Task], epochs: TaskEpochs | None = None) -> None:
    subtopologies = by_subtopology(tasks)
    writer.array_length(len(subtopologies), flexible=True)
    for subtopology_id, partitions in subtopologies.items():
        writer.compact_string(subtopology_id)
        writer.integer_array(INT32, partitions, flexible=True)
        if epochs is None:
            writer.no_tagged_fields()
            continue
        tagged = Writer()
        tagged.integer_array(INT32, [epochs[Task(subtopology_id, each)] for each in partitions], flexible=True)
        writer.tagged_fields([(_EPOCHS_TAG, tagged)])


StreamsRecordValue = (
    StreamsGroupMetadata
    | StreamsMemberMetadata
    | TargetAssignmentMetadata
    | TargetTasks
    | StreamsCurrentAssignment
    | StreamsTopology
)

_READERS: Mapping[StreamsRecordType, Callable[[Reader], StreamsRecordValue]] = MappingProxyType(
    {
        StreamsRecordType.GROUP_METADATA: StreamsGroupMetadata.read,
        StreamsRecordType.MEMBER_METADATA: StreamsMemberMetadata.read,
        StreamsRecordType.TARGET_ASSIGNMENT_METADATA: TargetAssignmentMetadata.read,
        StreamsRecordType.TARGET_ASSIGNMENT_MEMBER: TargetTasks.read,
        StreamsRecordType.CURRENT_MEMBER_ASSIGNMENT: StreamsCurrentAssignment.read,
        StreamsRecordType.TOPOLOGY: StreamsTopology.read,
    }
)


def read_streams_record(key: bytes, value: bytes | None) -> TypedRecord:
    """Read a record of a streams group. Raises FrameError."""
    return TypedRecord.read(key, value, _READERS)
