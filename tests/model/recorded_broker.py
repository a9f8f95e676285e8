"""A broker that only reports to a ConsumptionRecorder what a broker with these clients would report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from fauxka.faults.consumption.consumption_recorder import ConsumptionRecorder
from fauxka.faults.consumption.events import EndedTransaction, GroupRecords, Offset
from fauxka.faults.consumption.group_history import GroupHistory
from fauxka.faults.consumption.group_verdict import GroupVerdict
from fauxka.faults.consumption.judge import ConsumedLogs, judge_group
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.fetch_codec import FetchedPartition
from fauxka.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment, TopicPartition
from fauxka.protocol.messages.streams_group_heartbeat import Subtopology, Topology
from fauxka.protocol.primitives import Writer
from fauxka.protocol.stored_records import consumer_group_values
from fauxka.protocol.stored_records.consumer_group_records import ConsumerRecordType
from fauxka.protocol.stored_records.group_log_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
)
from fauxka.protocol.stored_records.streams_group_records import (
    CurrentTasks,
    StreamsCurrentAssignment,
    StreamsMemberMetadata,
    StreamsRecordType,
    StreamsTopology,
    Task,
)
from fauxka.protocol.stored_records.typed_records import RecordValue, TypedRecord, TypedRecordType
from fauxka.storage.deleted_records import DeletedRecords, DeletionCause

from ..finished_steps import finished
from .group_broker import GROUP, TOPIC, Consumer

TOPIC_ID = bytes(range(16))
SUBTOPOLOGY = "0"
# The second topic does not exist.
TOPOLOGY = StreamsTopology(
    Topology(subtopologies=[Subtopology(subtopology_id=SUBTOPOLOGY, source_topics=[TOPIC, f"{TOPIC}-of-today"])])
)
PRODUCER = 7
# Of fetches whose response is written later than others.
LATE_SHARE = 0.3

Record = tuple[bytes, bytes | None]


@dataclass(eq=False)
class FakeConnection:
    connection_id: int
    client_host: str = "127.0.0.1"


@dataclass
class FakeRequest:
    connection: FakeConnection
    kept_client_id: str | None
    request_id: int = 0


class RecordedBroker:
    """protocol: as that of GroupMembers."""

    def __init__(self, random: Random, protocol: str, logs: ConsumedLogs, *, reads_committed: bool) -> None:
        self.recorder = ConsumptionRecorder({TOPIC_ID: TOPIC}.get, lambda: self._request_id)
        self._random = random
        self._protocol = protocol
        self._logs = logs
        self._aborted_transactions: list[tuple[int, int]] | None = [] if reads_committed else None
        self._topic_key = TOPIC_ID if protocol in ("consumer", "streams") else TOPIC.encode()
        self._connections: dict[int, FakeConnection] = {}
        self._members: dict[str, Consumer] = {}
        self._request_id = self._generation = self._names = 0
        self._committed: set[int] = set()
        # The fetch that is not answered yet.
        self._begun: FakeRequest | None = None

    # -- logs

    def append(self, index: int, count: int) -> None:
        """Records are not reported."""

    def begin_transaction(self, index: int, count: int) -> None:
        """Nor are those of a transaction."""

    def end_transaction(self, index: int, *, is_commit: bool) -> None:
        """Nor are markers."""

    def stop_replicating(self, index: int) -> None:
        """The log is truncated when the model says so."""

    def delete(self, index: int, start: int, end: int) -> None:
        self.recorder.deleted(TOPIC, index, DeletedRecords(start, end, DeletionCause.RETENTION_MS, 0))

    def truncate(self, index: int, end: int) -> None:
        self.recorder.truncated(TOPIC, index, end)

    def set_partitions(self, count: int, *, is_new: bool) -> None:
        del count
        if is_new:
            for index in sorted(self._committed):
                self.delete_offset(index)
            self.recorder.recreate_topic(TOPIC)

    # -- members

    def assign(
        self, consumers: Sequence[Consumer], owners: Mapping[int, Consumer], *, is_new_generation: bool
    ) -> dict[int, Consumer]:
        for each in consumers:
            if not each.name:
                self._names += 1
                each.name = f"member-{self._names}"
        if self._protocol == "classic":
            self._generation += is_new_generation
            self._append(self._generation_record(consumers, owners))
        elif self._protocol == "consumer":
            self._append(*self._member_records(consumers, owners))
        elif self._protocol == "streams":
            self._append(*self._streams_records(consumers, owners))
        self._members = {each.name: each for each in consumers}
        return dict(owners)

    def ask_offsets(self, consumer: Consumer, index: int) -> None:
        self.recorder.asked(self._request(consumer), GROUP, TOPIC, [index])

    def _append(self, *records: Record) -> None:
        self.recorder.add(GroupRecords(GROUP, records))

    def _generation_record(self, consumers: Sequence[Consumer], owners: Mapping[int, Consumer]) -> Record:
        members = tuple(
            MemberMetadata(
                member_id=each.name,
                group_instance_id=each.instance,
                client_id=each.client_id,
                client_host="/127.0.0.1",
                session_timeout=1000,
                subscription=b"",
                assignment=assignment_of(_indexes_of(each, owners)),
            )
            for each in consumers
        )
        value = GroupMetadataValue(
            protocol_type="consumer",
            generation=self._generation,
            protocol="range",
            leader=members[0].member_id if members else None,
            current_state_timestamp=0,
            members=members,
        )
        return GroupMetadataKey(GROUP).encode(), value.encode()

    def _member_records(self, consumers: Sequence[Consumer], owners: Mapping[int, Consumer]) -> list[Record]:
        names = {each.name for each in consumers}
        gone = [name for name in self._members if name not in names]
        records = [_member_record(ConsumerRecordType.MEMBER_METADATA, name, None) for name in gone]
        for each in consumers:
            if each.name not in self._members:
                metadata = consumer_group_values.MemberMetadata(
                    instance_id=each.instance, client_id=each.client_id, client_host="/127.0.0.1"
                )
                records.append(_member_record(ConsumerRecordType.MEMBER_METADATA, each.name, metadata))
            epochs = dict.fromkeys(_indexes_of(each, owners), 1)
            assignment = consumer_group_values.CurrentAssignment(
                member_epoch=2,
                previous_member_epoch=1,
                state=0,
                assigned={TOPIC_ID: epochs} if epochs else consumer_group_values.NO_PARTITION_EPOCHS,
            )
            records.append(_member_record(ConsumerRecordType.CURRENT_MEMBER_ASSIGNMENT, each.name, assignment))
        return records

    def _streams_records(self, consumers: Sequence[Consumer], owners: Mapping[int, Consumer]) -> list[Record]:
        names = {each.name for each in consumers}
        gone = [name for name in self._members if name not in names]
        records = [_member_record(StreamsRecordType.MEMBER_METADATA, name, None) for name in gone]
        records.append(_member_record(StreamsRecordType.TOPOLOGY, "", TOPOLOGY))
        for each in consumers:
            if each.name not in self._members:
                metadata = StreamsMemberMetadata(
                    instance_id=each.instance, client_id=each.client_id, client_host="/127.0.0.1"
                )
                records.append(_member_record(StreamsRecordType.MEMBER_METADATA, each.name, metadata))
            tasks = {Task(SUBTOPOLOGY, index): 1 for index in _indexes_of(each, owners)}
            assignment = StreamsCurrentAssignment(
                member_epoch=2, previous_member_epoch=1, state=0, assigned=CurrentTasks(tasks)
            )
            records.append(_member_record(StreamsRecordType.CURRENT_MEMBER_ASSIGNMENT, each.name, assignment))
        return records

    # -- fetches

    def fetch(self, consumer: Consumer, index: int, first: int, readable_end: int) -> int:
        end = min(readable_end, first + self._random.randint(1, 5))
        self.fetch_again(consumer, index, first, end)
        return end

    def fetch_again(self, consumer: Consumer, index: int, first: int, end: int) -> None:
        self.recorder.fetched(self._request(consumer), [(self._topic_key, self._answer(index, first, end))])
        is_late = self._random.random() < LATE_SHARE
        self._number(consumer, is_written=not is_late)
        if is_late:
            self.recorder.written(self._request_id)

    def lose_response(self, consumer: Consumer, index: int, first: int, readable_end: int) -> None:
        end = min(readable_end, first + self._random.randint(1, 5))
        self.recorder.fetched(self._request(consumer), [(self._topic_key, self._answer(index, first, end))])
        self._number(consumer, is_written=False)
        self.recorder.lost(self._request_id)

    def begin_fetch(self, consumer: Consumer) -> None:
        self._begun = self._request(consumer)
        self._begun.request_id = self._request_id

    def end_fetch(self, consumer: Consumer, index: int, first: int, end: int) -> None:
        del consumer
        assert self._begun is not None, "a fetch is begun"
        if first < end:
            self.recorder.fetched(self._begun, [(self._topic_key, self._answer(index, first, end))])
            self.recorder.written(self._begun.request_id)

    def fetch_out_of_range(self, consumer: Consumer, index: int, offset: int) -> None:
        answer = FetchedPartition(index, ErrorCode.OFFSET_OUT_OF_RANGE, fetch_offset=offset)
        self.recorder.fetched(self._request(consumer), [(self._topic_key, answer)])
        self._number(consumer)

    def _answer(self, index: int, first: int, end: int) -> FetchedPartition:
        return FetchedPartition(
            index,
            aborted_transactions=self._aborted_transactions,
            records_bytes=1,
            fetch_offset=first,
            last_offset=end - 1,
        )

    def _request(self, consumer: Consumer) -> FakeRequest:
        self._request_id += 1
        connection = self._connections.setdefault(consumer.connection, FakeConnection(consumer.connection))
        return FakeRequest(connection, consumer.client_id)

    def _number(self, consumer: Consumer, *, is_written: bool = True) -> None:
        self.recorder.numbered(self._request_id, self._connections[consumer.connection], is_written=is_written)

    # -- commits

    def commit(self, consumer: Consumer, index: int, offset: int, *, is_aborted: bool | None) -> None:
        self._report_commit(consumer, index, offset)
        producer_id = -1 if is_aborted is None else PRODUCER
        self.recorder.add(GroupRecords(GROUP, [_offset_record(index, offset)], 0, producer_id))
        self._number(consumer)
        if is_aborted is not None:
            self.recorder.add(EndedTransaction(0, PRODUCER, not is_aborted))
        if not is_aborted:
            self._committed.add(index)

    def commit_late(self, consumer: Consumer, index: int, offset: int) -> None:
        self._report_commit(consumer, index, offset)
        self.recorder.refused(ErrorCode.UNKNOWN_MEMBER_ID if consumer.left else ErrorCode.ILLEGAL_GENERATION)
        self._number(consumer)

    def _report_commit(self, consumer: Consumer, index: int, offset: int) -> None:
        member = (GROUP, "", -1) if self._protocol == "none" else (GROUP, consumer.name, self._generation)
        self.recorder.committing(self._request(consumer), member, [Offset(TOPIC, index, offset)])

    def set_offset(self, index: int, offset: int) -> None:
        self._append(_offset_record(index, offset))
        self._committed.add(index)

    def delete_offset(self, index: int) -> None:
        self._append((OffsetCommitKey(GROUP, TOPIC, index).encode(), None))
        self._committed.discard(index)

    # -- the verdict

    @property
    def history(self) -> GroupHistory:
        return self.recorder.histories.groups.get(GROUP, GroupHistory())

    def verdict(self) -> GroupVerdict:
        return finished(judge_group(GROUP, self.history, self._logs))


def _indexes_of(consumer: Consumer, owners: Mapping[int, Consumer]) -> list[int]:
    return [index for index, owner in owners.items() if owner is consumer]


def _member_record(record_type: TypedRecordType, name: str, value: RecordValue | None) -> Record:
    record = TypedRecord(record_type, GROUP, name, value)
    return record.encode_key(), record.encode_value()


def _offset_record(index: int, offset: int) -> Record:
    value = OffsetCommitValue(offset=offset, commit_timestamp=0)
    return OffsetCommitKey(GROUP, TOPIC, index).encode(), value.encode()


def assignment_of(partitions: list[int]) -> bytes:
    """Return an assignment of the classic protocol."""
    writer = Writer()
    writer.int16(0)
    assigned = ConsumerProtocolAssignment(
        assigned_partitions=[TopicPartition(topic=TOPIC, partitions=partitions)] if partitions else []
    )
    assigned.write(writer, 0)
    return writer.getvalue()
