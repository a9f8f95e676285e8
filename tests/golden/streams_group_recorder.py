"""Answers of streams groups in a form that repeats, and the records that are kept of a group.

Members and what stands in the order of a hash table are sorted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType

from fauxka.protocol.message import Message
from fauxka.protocol.messages import streams_group_describe, streams_group_heartbeat
from fauxka.protocol.messages.streams_group_describe import (
    DescribedGroup,
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
)
from fauxka.protocol.stored_records.consumer_group_values import TargetAssignmentMetadata
from fauxka.protocol.stored_records.streams_group_records import (
    CurrentTasks,
    StreamsCurrentAssignment,
    StreamsGroupMetadata,
    StreamsMemberMetadata,
    StreamsRecordType,
    StreamsTopology,
    TargetTasks,
    Task,
    by_subtopology,
    read_streams_record,
)
from fauxka.protocol.stored_records.typed_records import TypedRecord

from .capture_normal_form import Json
from .consumer_group_recorder import ConsumerGroupNormalForm, ConsumerGroupRecorder, moment, without_hash_order
from .offsets_topic import stored_records

UNORDERED: tuple[type[Message], ...] = (
    streams_group_describe.Member,
    streams_group_describe.KeyValue,
    streams_group_heartbeat.TaskIds,
    streams_group_heartbeat.TopicPartition,
    streams_group_heartbeat.EndpointToPartitions,
)


class StreamsGroupNormalForm(ConsumerGroupNormalForm):
    """The normal form of answers about streams groups."""

    def of(self, value: object, *, name: str = "") -> Json:
        """Return the value, lists without an order sorted."""
        whole = super().of(value, name=name)
        if isinstance(whole, list) and isinstance(value, list) and value and isinstance(value[0], UNORDERED):
            return sorted(whole, key=lambda entry: json.dumps(entry, sort_keys=True))
        return whole


class StreamsGroupRecorder(ConsumerGroupRecorder):
    """A recorder for one client of streams groups. version: of the heartbeats and descriptions of the release.

    group_configs: set together with the configs of any group.
    """

    version = 1
    group_configs: Mapping[str, str] = MappingProxyType({})

    def set_group_config(self, group_id: str, **texts: str) -> None:
        """Set configs of a group. Underscores in their names stand for dots."""
        super().set_group_config(group_id, **{**self.group_configs, **texts})

    def wait_for_internal_topic(self, name: str, partition_count: int) -> None:
        """Return when the coordinator has the topic. That of a real Kafka gets it a moment after its broker."""
        self.wait_for_topic(name, partition_count)
        self.pass_ms(1000)

    def describe_streams(self, case: str, *group_ids: str, version: int | None = None) -> None:
        """Record the descriptions of groups."""
        asked = self.version if version is None else version
        self.case(case, asked, StreamsGroupDescribeRequest(group_ids=list(group_ids)))

    def described_streams(self, group_id: str) -> DescribedGroup:
        """Return the group as it is now, without a line."""
        response = self.call(
            StreamsGroupDescribeRequest(group_ids=[group_id]), self.version, StreamsGroupDescribeResponse
        )
        return response.groups[0]

    def expect_streams_members(self, group_id: str, count: int) -> None:
        """Return when the group has so many members."""
        self.expect_that(
            lambda: len(self.described_streams(group_id).members) == count, f"{count} members of {group_id}"
        )

    def expect_assignment(self, group_id: str, epoch: int) -> None:
        """Return when the group has assigned its tasks in that epoch."""
        self.expect_that(
            lambda: self.described_streams(group_id).assignment_epoch == epoch,
            f"an assignment of {group_id} in epoch {epoch}",
        )

    def kept_streams(self, case: str, *group_ids: str) -> None:
        """Record what __consumer_offsets has about streams groups, in the order of its records."""
        lines: list[Json] = []
        for key, value in stored_records(self.call):
            if int.from_bytes(key[:2]) in list(StreamsRecordType):
                record = read_streams_record(key, value)
                if record.group_id in group_ids:
                    assert record.encode_key() == key, f"another key of {record}"
                    assert record.encode_value() == value, f"other bytes of {record}"
                    lines.append(self._streams_record(record))
        line = {"case": f"{self.scene}: {case}", "records": without_hash_order(lines)}
        self._output.write(json.dumps(line, ensure_ascii=False) + "\n")

    def _streams_record(self, record: TypedRecord) -> Json:
        line: dict[str, Json] = {"type": record.record_type.name, "group": record.group_id}
        if record.name:
            line["name"] = record.name
        return line | {"value": self._streams_value(record)}

    def _streams_value(self, record: TypedRecord) -> Json:
        match record.value:
            case None:
                return None
            case TargetAssignmentMetadata(epoch, timestamp):
                return {"assignment_epoch": epoch, "assignment_timestamp": moment(timestamp)}
            case TargetTasks() as tasks:
                return [_tasks(each) for each in tasks]
            case StreamsCurrentAssignment() as value:
                return {
                    "member_epoch": value.member_epoch,
                    "previous_member_epoch": value.previous_member_epoch,
                    "state": value.state,
                    "assigned": _current(value.assigned),
                    "pending_revocation": _current(value.pending_revocation),
                }
            case StreamsMemberMetadata() as value:
                return {
                    "instance_id": value.instance_id,
                    "rack_id": value.rack_id,
                    "client_id": value.client_id,
                    "client_host": value.client_host,
                    "rebalance_timeout_ms": value.rebalance_timeout_ms,
                    "topology_epoch": value.topology_epoch,
                    "process_id": value.process_id,
                    "user_endpoint": None if value.user_endpoint is None else list(value.user_endpoint),
                    "client_tags": dict(value.client_tags),
                }
            case StreamsGroupMetadata() as value:
                return {
                    "epoch": value.epoch,
                    # What a topic looks like includes its id, which is another one in each run.
                    "metadata_hash": "some" if value.metadata_hash else 0,
                    "validated_topology_epoch": value.validated_topology_epoch,
                    "assignment_configs": None if value.assignment_configs is None else dict(value.assignment_configs),
                    "stored_description_epoch": value.stored_description_epoch,
                    "failed_description_epoch": value.failed_description_epoch,
                }
            case StreamsTopology(topology):
                return self.normal_form.of(topology)
            case _:
                raise AssertionError(f"not a record of a streams group: {record}")


def _tasks(tasks: frozenset[Task]) -> Json:
    return {subtopology_id: list[Json](partitions) for subtopology_id, partitions in by_subtopology(tasks).items()}


def _current(tasks: CurrentTasks) -> Json:
    active: Json = {f"{task.subtopology_id}_{task.partition}": epoch for task, epoch in sorted(tasks.active.items())}
    return [active, _tasks(tasks.standby), _tasks(tasks.warmup)]
