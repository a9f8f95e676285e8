"""Answers about share groups and their records in __consumer_offsets, in a form that two brokers have in common.

Topic ids have the names of their topics, times are "now", and lists in the order of a hash table are sorted.
"""

import json
from collections.abc import Iterator

from fauxka.protocol.messages import share_group_describe, share_group_heartbeat
from fauxka.protocol.stored_records.consumer_group_values import Partitions, TargetAssignment, TargetAssignmentMetadata
from fauxka.protocol.stored_records.share_group_records import (
    ShareCurrentAssignment,
    ShareGroupMetadata,
    ShareMemberMetadata,
    ShareRecordType,
    StatePartitionMetadata,
    StateTopic,
    read_share_record,
)
from fauxka.protocol.stored_records.typed_records import TypedRecord

from .capture_normal_form import Json, NormalForm
from .capture_recorder import Recorder
from .offsets_topic import stored_records

_UNORDERED_ENTRIES = (
    share_group_describe.Member,
    share_group_describe.TopicPartitions,
    share_group_heartbeat.TopicPartitions,
)


class ShareGroupNormalForm(NormalForm):
    """The normal form, with an order for members and topics."""

    def of(self, value: object, *, name: str = "") -> Json:
        """Return the value, lists without an order sorted."""
        whole = super().of(value, name=name)
        if isinstance(value, list) and isinstance(whole, list) and value and isinstance(value[0], _UNORDERED_ENTRIES):
            whole.sort(key=json.dumps)
        return whole


def write_stored_records(recorder: Recorder, case: str, group_id: str) -> None:
    """Write a line with the records of the group, in the order of the log."""
    recorder.stored(case, [_record(recorder, record) for record in _records_of(recorder, group_id)])


def initialized_counts(recorder: Recorder, group_id: str) -> dict[bytes, int]:
    """Return how many partitions of each topic have a state for the group."""
    counts: dict[bytes, int] = {}
    for record in _records_of(recorder, group_id):
        if isinstance(record.value, StatePartitionMetadata):
            counts = {each.topic_id: len(each.partitions) for each in record.value.initialized}
    return counts


def _records_of(recorder: Recorder, group_id: str) -> Iterator[TypedRecord]:
    for key, value in stored_records(recorder.call):
        if int.from_bytes(key[:2]) in list(ShareRecordType):
            record = read_share_record(key, value)
            if record.group_id == group_id:
                yield record


def _record(recorder: Recorder, record: TypedRecord) -> Json:
    name = record.record_type.name
    return [name, record.name, _value(recorder, record)] if record.name else [name, _value(recorder, record)]


def _value(recorder: Recorder, record: TypedRecord) -> Json:
    match record.value:
        case None:
            return None
        case ShareMemberMetadata() as value:
            return [value.rack_id, value.client_id, value.client_host, *value.subscribed_topic_names]
        case ShareGroupMetadata(epoch, metadata_hash):
            return [epoch, "a hash" if metadata_hash else 0]
        case TargetAssignmentMetadata(epoch, timestamp):
            return [epoch, recorder.normal_form.of(timestamp, name="timestamp")]
        case TargetAssignment(partitions):
            return _partitions(recorder, partitions)
        case ShareCurrentAssignment() as value:
            epochs: list[Json] = [value.member_epoch, value.previous_member_epoch]
            return [*epochs, value.state, _partitions(recorder, value.partitions)]
        case StatePartitionMetadata() as value:
            return {
                "initializing": _topics(recorder, value.initializing),
                "initialized": _topics(recorder, value.initialized),
                "deleting": [[_id(recorder, topic_id), name] for topic_id, name in sorted(value.deleting)],
            }
        case _:
            raise AssertionError(f"not a record of a share group: {record}")


def _partitions(recorder: Recorder, partitions: Partitions) -> Json:
    named = {_id(recorder, topic_id): indexes for topic_id, indexes in partitions.items()}
    return {name: list[Json](sorted(named[name])) for name in sorted(named)}


def _topics(recorder: Recorder, topics: tuple[StateTopic, ...]) -> Json:
    named: list[Json] = [[_id(recorder, each.topic_id), each.topic_name, *sorted(each.partitions)] for each in topics]
    return sorted(named, key=json.dumps)


def _id(recorder: Recorder, topic_id: bytes) -> str:
    return str(recorder.normal_form.of(topic_id))
