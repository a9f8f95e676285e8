"""Answers of groups of the consumer protocol in a form that repeats, and the records that are kept of a group.

Member ids that the broker makes are numbered in the order of their appearance; members, partitions and names of
topics come in the order of a hash table and are sorted.
"""

import itertools
import json
import re
import time
from typing import TextIO

from fauxka.protocol.messages import consumer_group_describe, consumer_group_heartbeat
from fauxka.protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)
from fauxka.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fauxka.protocol.stored_records.consumer_group_records import (
    ConsumerRecordType,
    read_consumer_record,
)
from fauxka.protocol.stored_records.consumer_group_values import (
    CurrentAssignment,
    GroupMetadata,
    MemberMetadata,
    PartitionEpochs,
    Partitions,
    RegularExpression,
    TargetAssignment,
    TargetAssignmentMetadata,
)
from fauxka.protocol.stored_records.typed_records import TypedRecord

from .capture_normal_form import Json
from .group_recorder import GroupNormalForm, GroupRecorder
from .offsets_topic import stored_records

GENERATED_ID = re.compile(r"[A-Za-z0-9_-]{22}")
UNORDERED_ENTRIES = (
    consumer_group_describe.Member,
    consumer_group_describe.TopicPartitions,
    consumer_group_heartbeat.TopicPartitions,
)
GROUP_RESOURCE = 32
GROUP_ID_NOT_FOUND = 69
DESCRIBE_LATEST = 1
RECENT_MS = 10 * 60 * 1000


class ConsumerGroupNormalForm(GroupNormalForm):
    """The normal form of answers about groups of the consumer protocol."""

    def __init__(self, bootstrap: str) -> None:
        """bootstrap: "host:port"."""
        super().__init__(bootstrap)
        self._generated: dict[str, str] = {}

    def of(self, value: object, *, name: str = "") -> Json:
        """Return the value, lists without an order sorted."""
        whole = super().of(value, name=name)
        if isinstance(whole, list) and isinstance(value, list) and value:
            if isinstance(value[0], UNORDERED_ENTRIES):
                return sorted(whole, key=lambda entry: json.dumps(entry, sort_keys=True))
            if name == "subscribed_topic_names":
                return sorted(whole, key=str)
            if name == "partitions" and isinstance(value[0], int):
                return sorted(whole, key=lambda index: index if isinstance(index, int) else -1)
        return whole

    def _text(self, value: str, name: str) -> Json:
        if name == "member_id" and GENERATED_ID.fullmatch(value) and not self._is_topic_id(value):
            self._generated.setdefault(value, f"generated #{len(self._generated) + 1}")
        text = super()._text(value, name)
        assert isinstance(text, str)
        for generated, number in self._generated.items():
            text = text.replace(generated, number)
        return text

    def _is_topic_id(self, value: str) -> bool:
        return super()._text(value, "") != value


class ConsumerGroupRecorder(GroupRecorder):
    """A recorder for one client of groups of the consumer protocol."""

    def __init__(
        self,
        bootstrap: str,
        output: TextIO,
        client_id: str = "capture",
        normal_form: ConsumerGroupNormalForm | None = None,
    ) -> None:
        """Connect as client_id; lines go to output."""
        super().__init__(bootstrap, output, client_id, normal_form or ConsumerGroupNormalForm(bootstrap))

    def describe_case(self, case: str, *group_ids: str, version: int = DESCRIBE_LATEST) -> None:
        """Record what is told of groups."""
        self.case(case, version, ConsumerGroupDescribeRequest(group_ids=list(group_ids)))

    def described(self, group_id: str) -> DescribedGroup:
        """Return the group as it is now, without a line."""
        response = self.call(
            ConsumerGroupDescribeRequest(group_ids=[group_id]), DESCRIBE_LATEST, ConsumerGroupDescribeResponse
        )
        return response.groups[0]

    def expect_loaded(self) -> None:
        """Return when the coordinator answers for groups: it is found before it has read its topic."""
        self.expect_that(
            lambda: self.described("nothing").error_code == GROUP_ID_NOT_FOUND, "a coordinator that is ready"
        )

    def expect_epoch(self, group_id: str, epoch: int) -> None:
        """Return when the group is in that epoch: what the broker does by itself is done."""
        self.expect_that(lambda: self.described(group_id).group_epoch == epoch, f"epoch {epoch} of {group_id}")

    def expect_members(self, group_id: str, count: int) -> None:
        """Return when the group has so many members."""
        self.expect_that(lambda: len(self.described(group_id).members) == count, f"{count} members of {group_id}")

    def set_group_config(self, group_id: str, **texts: str) -> None:
        """Set configs of a group. Underscores in their names stand for dots."""
        configs = [AlterableConfig(name=name.replace("_", "."), value=value) for name, value in texts.items()]
        resource = AlterConfigsResource(resource_type=GROUP_RESOURCE, resource_name=group_id, configs=configs)
        self.call(IncrementalAlterConfigsRequest(resources=[resource]), 1)
        self.settle()

    def kept(self, case: str, *group_ids: str) -> None:
        """Record what __consumer_offsets has about groups of the consumer protocol, in the order of its records."""
        lines: list[Json] = []
        for key, value in stored_records(self.call):
            if int.from_bytes(key[:2]) in list(ConsumerRecordType):
                record = read_consumer_record(key, value)
                if record.group_id in group_ids:
                    lines.append(self._record(record))
        line = {"case": f"{self.scene}: {case}", "records": without_hash_order(lines)}
        self._output.write(json.dumps(line, ensure_ascii=False) + "\n")

    def _record(self, record: TypedRecord) -> Json:
        line: dict[str, Json] = {"type": record.record_type.name, "group": record.group_id}
        if record.name:
            is_member = record.record_type.name.endswith(("MEMBER", "MEMBER_METADATA", "MEMBER_ASSIGNMENT"))
            line["name"] = self.normal_form.of(record.name, name="member_id" if is_member else "regex")
        return line | {"value": self._value(record)}

    def _value(self, record: TypedRecord) -> Json:
        match record.value:
            case None:
                return None
            case TargetAssignmentMetadata(epoch, timestamp):
                return {"assignment_epoch": epoch, "assignment_timestamp": moment(timestamp)}
            case TargetAssignment(partitions):
                return self._partitions(partitions)
            case CurrentAssignment() as value:
                return {
                    "member_epoch": value.member_epoch,
                    "previous_member_epoch": value.previous_member_epoch,
                    "state": value.state,
                    "assigned": self._partition_epochs(value.assigned),
                    "pending_revocation": self._partition_epochs(value.pending_revocation),
                }
            case RegularExpression(topics, version, timestamp):
                return {"topics": list(topics), "version": "some" if version else 0, "timestamp": moment(timestamp)}
            case MemberMetadata() as value:
                return self._member(value)
            case GroupMetadata(epoch, metadata_hash):
                # What a topic looks like includes its id, which is another one in each run.
                return {"epoch": epoch, "metadata_hash": "some" if metadata_hash else 0}
            case _:
                raise AssertionError(f"Kafka writes no such record any more: {record}")

    def _member(self, value: MemberMetadata) -> Json:
        classic: Json = None
        if value.classic is not None:
            protocols: list[Json] = [[each.name, each.metadata.hex()] for each in value.classic.protocols]
            classic = {"session_timeout_ms": value.classic.session_timeout_ms, "protocols": protocols}
        return {
            "instance_id": value.instance_id,
            "rack_id": value.rack_id,
            "client_id": value.client_id,
            "client_host": value.client_host,
            "subscribed_topic_names": list[Json](value.subscribed_topic_names),
            "subscribed_topic_regex": value.subscribed_topic_regex,
            "rebalance_timeout_ms": value.rebalance_timeout_ms,
            "server_assignor": value.server_assignor,
            "classic": classic,
        }

    def _partitions(self, partitions: Partitions) -> Json:
        named = {str(self.normal_form.of(topic_id)): topic_id for topic_id in partitions}
        return {name: list[Json](sorted(partitions[topic_id])) for name, topic_id in sorted(named.items())}

    def _partition_epochs(self, partitions: PartitionEpochs) -> Json:
        named = {str(self.normal_form.of(topic_id)): topic_id for topic_id in partitions}
        return {
            name: {str(index): epoch for index, epoch in sorted(partitions[topic_id].items())}
            for name, topic_id in sorted(named.items())
        }


def without_hash_order(records: list[Json]) -> list[Json]:
    """Return the records with those sorted by member that stand together and come for one member after the other."""
    runs = [list(together) for _, together in itertools.groupby(records, _run_of)]
    return [record for run in runs for record in (sorted(run, key=_name_of) if _run_of(run[0]) else run)]


def _run_of(record: Json) -> str:
    """Return what a record stands together with: what each member is to have, or what is gone; "" for others."""
    assert isinstance(record, dict)
    if record["value"] is None:
        return "gone"
    return "target" if record["type"] == ConsumerRecordType.TARGET_ASSIGNMENT_MEMBER.name else ""


def _name_of(record: Json) -> str:
    assert isinstance(record, dict)
    return str(record.get("name", ""))


def moment(timestamp_ms: int) -> Json:
    """Return a time as "now" if it is a recent one."""
    return "now" if abs(timestamp_ms - time.time() * 1000) < RECENT_MS else timestamp_ms
