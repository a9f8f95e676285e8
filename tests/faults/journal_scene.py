"""A journal that is called as by a broker, and real logs in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fauxka.faults.actions import Action, Delay, Drop, Error, Hold
from fauxka.faults.event_ids import find_event_id
from fauxka.faults.fault import Fault
from fauxka.faults.journal.journal import Journal
from fauxka.faults.journal.journal_record import RESPONDED
from fauxka.faults.record_damage import FetchedRecords
from fauxka.faults.verdict.hanging_transactions import HangingTransaction
from fauxka.faults.verdict.topic_verdict import TopicVerdict
from fauxka.faults.verdict.verdict import judge
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.batches.record_batch import BatchHeader, TimestampType, parse_header
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.error_codes import ErrorCode, KafkaError
from fauxka.protocol.frames import FrameError
from fauxka.protocol.request_facts import BatchFacts, RequestFacts
from fauxka.storage.append_refused import AppendRefused
from fauxka.storage.append_result import AppendResult
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.log_config import LogConfig
from fauxka.storage.log_loader import LogLocation
from fauxka.storage.partition_log import PartitionLog
from fauxka.storage.producers.emulated_version import EmulatedVersion

from ..finished_steps import finished

NOW_MS = 1_700_000_000_000
TOPIC = "orders"
PRODUCER = 4000


@dataclass
class FakeConnection:
    connection_id: int = 1
    node_id: int = 1
    listener_name: str = "PLAINTEXT"
    client_host: str = "127.0.0.1"
    client_software: str = "librdkafka 2.14"
    mechanism: str | None = None
    principal: str = "User:ANONYMOUS"


@dataclass
class FakeRequest:
    """A request for the journal and for rules. named: None for a body that does not decode."""

    connection: FakeConnection = field(default_factory=FakeConnection)
    client_id: str | None = "shop"
    api_key: int = int(ApiKey.PRODUCE)
    api_version: int = 9
    correlation_id: int = 0
    now_ms: int = NOW_MS
    error_code: int = 0
    batches: list[tuple[str, int, AppendResult | KafkaError]] | None = None
    kept_body: bytes | None = None
    kept_response: object = None
    arrived_ns: int = 0
    took_ns: int = 0
    size: int = 200
    named: RequestFacts | None = field(default_factory=RequestFacts)
    api_name: str = "Produce"
    mechanism: str | None = None
    principal: str = "User:ANONYMOUS"
    is_long: bool = False
    matched_ahead: dict[object, object] = field(default_factory=dict[object, object])
    fetched: Sequence[FetchedRecords] = ()

    @property
    def kept_client_id(self) -> str | None:
        return self.client_id

    @property
    def facts(self) -> RequestFacts:
        if self.named is None:
            raise FrameError("a body that does not decode")
        return self.named


@dataclass(frozen=True)
class Batch:
    """A batch of a client. values: of its records, which have equal keys and increasing timestamps."""

    base_sequence: int = -1
    values: tuple[str, ...] = ("v",)
    producer_id: int = PRODUCER
    producer_epoch: int = 0
    partition: int = 0
    timestamp: int = NOW_MS

    def data(self) -> bytes:
        options = BatchOptions(
            producer_id=self.producer_id, producer_epoch=self.producer_epoch, base_sequence=self.base_sequence
        )
        records = [
            Record(value.encode(), value.encode(), self.timestamp + index, (("event", value.encode()),))
            for index, value in enumerate(self.values)
        ]
        return build_batch(records, options)


def events(first: int, last: int) -> tuple[str, ...]:
    """Return the values of the records first..last."""
    return tuple(f"event-{index}" for index in range(first, last + 1))


def numbered(first: int, last: int, **options: int) -> Batch:
    """Return a batch of the records first..last with sequences first..last."""
    return Batch(**{"base_sequence": first, "timestamp": NOW_MS + first, **options}, values=events(first, last))


class JournalScene:
    """A topic with its logs and journal."""

    def __init__(self, *, partitions: int = 2, is_append_time: bool = False, capacity: int = 1000) -> None:
        self.journal = Journal(capacity)
        timestamp_type = TimestampType.LOG_APPEND_TIME if is_append_time else TimestampType.CREATE_TIME
        self.config = LogConfig(message_timestamp_type=timestamp_type)
        self.now_ms = NOW_MS
        self.file_systems = [MemoryFileSystem() for _ in range(partitions)]
        self.logs = [self.load(index) for index in range(partitions)]
        self.correlation_id = 0

    def load(self, partition: int) -> PartitionLog:
        place = LogLocation(self.file_systems[partition], TOPIC, partition, EmulatedVersion.parse("4.3"))
        return PartitionLog(place, self.config, now_ms=NOW_MS)

    # -- the logs as a verdict reads them

    def partitions(self, topic: str) -> list[int]:
        return list(range(len(self.logs))) if topic == TOPIC else []

    def batches(self, topic: str, partition: int, from_offset: int) -> Iterator[memoryview]:
        log = self.logs[partition]
        offset = max(from_offset, log.log_start_offset)
        while offset < log.log_end_offset:
            fetched = log.read(offset, 1, upper_offset=log.log_end_offset, min_one_batch=True)
            batch = memoryview(b"".join(fetched.views))
            header = parse_header(batch)
            yield batch[: header.size]
            offset = header.last_offset + 1

    def is_aborted(self, topic: str, partition: int, header: BatchHeader) -> bool:
        return False

    def replica_batches(self, topic: str, partition: int, from_offset: int) -> Iterator[memoryview]:
        return iter(())

    def hanging_transactions(self, topic: str) -> list[HangingTransaction]:
        return []

    # -- what clients do

    def new_request(self, *batches: Batch, connection: int = 1) -> FakeRequest:
        """Return a new request with the batches."""
        self.correlation_id += 1
        facts = RequestFacts(
            (TOPIC,),
            tuple((TOPIC, batch.partition) for batch in batches),
            batches=[batch_facts(each) for each in batches],
        )
        return FakeRequest(FakeConnection(connection), correlation_id=self.correlation_id, named=facts)

    def apply(self, request: FakeRequest) -> FakeRequest:
        """Append the request's batches to the logs."""
        request.batches = []
        for batch in request.facts.batches:
            decision: AppendResult | KafkaError
            try:
                decision = self.logs[batch.partition].append(batch.records, now_ms=self.now_ms, leader_epoch=0)
            except AppendRefused as refused:
                decision = refused
            request.batches.append((TOPIC, batch.partition, decision))
        return request

    def send(self, *batches: Batch, connection: int = 1, state: int = RESPONDED) -> int:
        """Send a request that is handled; return its id."""
        request = self.apply(self.new_request(*batches, connection=connection))
        return self.journal.handled(request, request.size, state)

    def lose_answer(self, *batches: Batch, connection: int = 1) -> int:
        """Send a request that is applied, and close its connection instead of responding."""
        request_id = self.send(*batches, connection=connection)
        self.journal.fault_acted(request_id, 1, "applied", "close")
        self.journal.unanswered(request_id)
        return request_id

    def withhold(self, request: FakeRequest, kind: str = "drop", error: ErrorCode = ErrorCode.NONE) -> int:
        """Send a request that a fault withholds from its handler."""
        actions: dict[str, Action] = {
            "drop": Drop(),
            "hold": Hold(),
            "delay": Delay(ms=1),
            "error": Error(error=error.value),
        }
        request_id = self.journal.not_applied(request, Fault(rule_id=1, action=actions[kind]))
        self.journal.fault_acted(request_id, 1, "received", kind)
        return request_id

    def truncate(self, partition: int, *, to_offset: int) -> None:
        """Crash, and recover without the batches from an offset on."""
        log = self.logs[partition]
        batches = [bytes(batch) for batch in self.batches(TOPIC, partition, 0)]
        kept = [batch for batch in batches if parse_header(batch).base_offset < to_offset]
        self.file_systems[partition] = MemoryFileSystem()
        self.logs[partition] = self.load(partition)
        for batch in kept:
            sent = memoryview(bytes(8) + batch[8:])
            self.logs[partition].append(sent, now_ms=self.now_ms, leader_epoch=0)
        self.journal.truncated(TOPIC, partition, log.log_end_offset, self.logs[partition].log_end_offset)

    def delete_records(self, partition: int, offset: int) -> None:
        """Delete the records before the offset, as a client does."""
        self.logs[partition].delete_records_before(offset)
        self._report_deleted(partition)

    def enforce_retention(self, partition: int, now_ms: int) -> None:
        """Delete the records that are older than retention.ms."""
        self.logs[partition].enforce_retention(now_ms)
        self._report_deleted(partition)

    def _report_deleted(self, partition: int) -> None:
        for deleted in self.logs[partition].deletions.take():
            self.journal.records_deleted(TOPIC, partition, deleted)

    def verdict(self, event_id: str | None = None) -> TopicVerdict:
        event_id_of = None if event_id is None else find_event_id(event_id)
        return finished(judge(self.journal, self, TOPIC, event_id_of=event_id_of))

    def verdict_of(self, topic: str) -> TopicVerdict:
        return finished(judge(self.journal, self, topic))


def batch_facts(batch: Batch) -> BatchFacts:
    data = memoryview(batch.data())
    header = parse_header(data)
    return BatchFacts(
        TOPIC,
        batch.partition,
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
        header.last_sequence,
        header.records_count,
        data,
    )
