"""The log of a coordinator: the records of its state in its internal topic, which it replays at start-up.

- A coordinator validates a request, appends records, and only then changes its state in memory.
- The records of one change are one batch in the partition of the group id or transactional id. After a crash the
  batch is there as a whole, or not at all.
- A response that reports the change waits for `flushed`, which is called before anything else is awaited: otherwise
  another request would take the records along.
- A change that must not be on disk before an earlier one is appended by a step of `run_when_flushed`. The next response
  waits for the step too. Steps are callbacks and no coroutines: they belong to no request, they run at once if nothing
  has to be flushed, and the transaction of a step ends with the next flush, whoever waits for it.
- A node has in memory what is in the partitions that it leads. `load` reads a partition that another node has led.
Source: CoordinatorRuntime and TransactionStateManager.appendTransactionToLog, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ...faults.consumption.events import EndedTransaction, GroupRecords
from ...protocol.batches.compression import BrokenPayload
from ...protocol.batches.control_records import EndTransactionMarker, decode_marker
from ...protocol.batches.record_batch import NO_PRODUCER_ID, BatchHeader
from ...protocol.batches.record_validation import InvalidRecords
from ...protocol.batches.records import BatchOptions, Record, build_batch, decode_batch
from ...protocol.batches.whole_batches import WholeBatch, split_batches
from ...protocol.error_codes import ErrorCode, KafkaError
from ...storage.coordinator_batch import TransactionalRecords
from ...storage.segments.header_checks import DamagedSegmentError
from ..replica.unsafe_append import find_unsafe
from ..runtime.deferred import Deferred
from .internal_topics import INTERNAL_TOPICS, CoordinatorType, expected_index_of_key, partition_of_key

if TYPE_CHECKING:
    from ...storage.append_result import AppendResult
    from ...storage.partition_log import PartitionLog
    from ..metadata.controller import Controller
    from ..metadata.metadata_image import TopicImage
    from ..replica.partition import Partition
    from ..replica.replica_manager import ReplicaManager
    from ..replica.unsafe_append import UnsafeAppend

logger = logging.getLogger(__name__)

# The size of one read during replay. Kafka's offsets.load.buffer.size is five times as large.
_REPLAY_READ_BYTES = 1024 * 1024

# The error codes of a failed append, and those that the client gets in their place.
# Source: CoordinatorOperationExceptionHelper.handleOperationException, Kafka 4.3.0.
_CLIENT_ERROR_CODES: Mapping[int, ErrorCode] = MappingProxyType(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
        ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
        ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
        ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    }
)

_NO_PRODUCER = BatchOptions()

# Batches without a producer. Group and share coordinators write 0 as their sequence, which has no meaning (seen in
# tests/golden/consumer_offsets-4.3.0.log).
_BATCH_OPTIONS: Mapping[CoordinatorType, BatchOptions] = MappingProxyType(
    {
        CoordinatorType.GROUP: BatchOptions(base_sequence=0),
        CoordinatorType.TRANSACTION: _NO_PRODUCER,
        CoordinatorType.SHARE: BatchOptions(base_sequence=0),
    }
)


class CoordinatorRecord(NamedTuple):
    """A record to append. A value of None is a tombstone."""

    key: bytes
    value: bytes | None


class ReplayedRecord(NamedTuple):
    """A record read from the log.

    header: the header of its batch, which has the producer of a transactional record.
    marker: set for a control record: the end of the producer's transaction in this partition. The record then has no
    other content.
    """

    header: BatchHeader
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    marker: EndTransactionMarker | None


# What a change has appended to the log of the group coordinator; None for other coordinators, and after a load.
Appended = GroupRecords | EndedTransaction | None

# Applies a record to the coordinator's state: partition index, record.
ApplyRecord = Callable[[int, ReplayedRecord], None]

# The result of `flushed` where nothing has to be flushed.
FLUSHED = Deferred[ErrorCode].completed(ErrorCode.NONE)


class CoordinatorLog:
    """Appends to and reads the internal topic of one type of coordinator."""

    __slots__ = (
        "_changed",
        "_controller",
        "_is_current",
        "_is_metadata_unsaved",
        "_loaded",
        "_pending_steps",
        "_replicas",
        "_type",
        "_unsafe",
    )

    def __init__(
        self,
        controller: Controller,
        replicas: ReplicaManager,
        coordinator_type: CoordinatorType,
        is_current: Callable[[], bool],
        changed: Callable[[Appended], None],
    ) -> None:
        """Create the log. The first append creates the topic.

        is_current: returns whether the node still has the coordinator of this log.
        changed: called with each append, before the coordinator has changed its state, and after each load.
        """
        self._controller = controller
        self._replicas = replicas
        self._is_current = is_current
        self._changed = changed
        self._type = coordinator_type
        # The partitions whose records are in memory, because they were replayed or appended here.
        self._loaded: set[int] = set()
        # The last append to each partition that must be safe before the next response.
        self._unsafe: dict[Partition, UnsafeAppend] = {}
        # The steps of run_when_flushed that the next response waits for.
        self._pending_steps: list[Deferred[ErrorCode]] = []
        # Whether the cluster metadata with a new internal topic is not on disk yet.
        self._is_metadata_unsaved = False

    @property
    def is_current(self) -> bool:
        """Whether the node still has the coordinator of this log. A crash or a reset ends it."""
        return self._is_current()

    # -- partitions

    def index_of(self, key_text: str) -> int:
        """Return the partition index of a group id, transactional id or share key; see expected_index_of_key."""
        return expected_index_of_key(self._controller.image, self._type, key_text)

    def check_coordinator(self, key_text: str) -> None:
        """Check that this node coordinates the key: that it leads the key's partition, or that there is no topic yet.

        Raises KafkaError NOT_COORDINATOR.
        """
        if self._find_topic() is not None and not self.leads(key_text):
            raise KafkaError(ErrorCode.NOT_COORDINATOR)

    def leads(self, key_text: str) -> bool:
        """Whether the topic exists and this node leads the partition of the key."""
        topic = self._find_topic()
        if topic is None:
            return False
        partition = self._replicas.find_partition(topic.topic_id, self.index_of(key_text))
        return partition is not None and partition.is_leader

    def end_offset_of(self, key_text: str) -> int:
        """Return the end offset of the partition of a group id or transactional id; 0 if this node does not lead it."""
        topic = self._find_topic()
        partition = None if topic is None else self._replicas.find_partition(topic.topic_id, self.index_of(key_text))
        return 0 if partition is None else partition.log.log_end_offset

    def _find_topic(self) -> TopicImage | None:
        return self._controller.image.find_topic(INTERNAL_TOPICS[self._type].name)

    # -- write

    def append(self, key_text: str, records: Sequence[CoordinatorRecord], options: BatchOptions = _NO_PRODUCER) -> int:
        """Append the records as one batch to the partition of a group id or transactional id. Return its base offset.

        options: the producer, if the records belong to a transaction.
        Raises KafkaError with an error code for the client: COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR,
        UNKNOWN_SERVER_ERROR. No record is written then.
        """
        if not self.is_current:
            raise KafkaError(ErrorCode.NOT_COORDINATOR, "the node crashed or was reset")
        try:
            return self._append(key_text, records, options)
        except KafkaError as error:
            raise KafkaError(_CLIENT_ERROR_CODES.get(error.code, error.code), error.message) from error

    def partition_index_of(self, key_text: str) -> int:
        """Return the partition index of a group id or transactional id. Raises KafkaError."""
        return self._partition_of(key_text).index

    def _partition_of(self, key_text: str) -> Partition:
        return partition_of_key(self._controller, self._replicas, self._type, key_text)

    def _append(self, key_text: str, records: Sequence[CoordinatorRecord], options: BatchOptions) -> int:
        partition = self._partition_of(key_text)
        partition.check_leader()
        partition.check_in_sync()
        now_ms = self._replicas.clock.now_ms()
        stamped = [Record(key=each.key, value=each.value, timestamp=now_ms) for each in records]
        if options.producer_id == NO_PRODUCER_ID:
            batch = build_batch(stamped, _BATCH_OPTIONS[self._type])
            result = partition.append(memoryview(batch), now_ms)
        else:
            batch = build_batch(stamped, options)
            result = partition.append_coordinated(TransactionalRecords(batch), now_ms)
        self._loaded.add(partition.index)
        self.await_safe(partition, result)
        self._is_metadata_unsaved |= not self._controller.is_saved
        is_of_group = self._type is CoordinatorType.GROUP
        self._changed(GroupRecords(key_text, records, partition.index, options.producer_id) if is_of_group else None)
        return result.base_offset

    def await_safe(self, partition: Partition, result: AppendResult) -> None:
        """Let the next response wait until an append is safe, to a partition of this log or of the transaction."""
        unsafe = find_unsafe(partition, result.last_offset + 1)
        if unsafe is not None:
            self._unsafe[partition] = unsafe

    def flushed(self) -> Deferred[ErrorCode]:
        """Return what completes when the appends since the last call are flushed and replicated.

        It completes with NONE, or with the error for the client if they cannot be.
        """
        if not self._unsafe and not self._pending_steps and not self._is_metadata_unsaved:
            return FLUSHED
        pending, self._pending_steps = self._pending_steps, []
        unsafe, self._unsafe = self._unsafe, {}
        for each in unsafe.values():
            safe: Deferred[ErrorCode] = Deferred(is_applied=True)
            each.when_safe(self._replicas.config.offsets_commit_timeout_ms, safe.complete)
            pending.append(safe)
        if self._is_metadata_unsaved:
            self._is_metadata_unsaved = False
            pending.append(self._metadata_saved())
        return all_flushed(pending)

    def _metadata_saved(self) -> Deferred[ErrorCode]:
        """Return what completes when the metadata is saved: the next start-up needs it to find a new internal topic."""
        saved: Deferred[ErrorCode] = Deferred(is_applied=True)
        self._controller.saved().deliver_to(
            lambda error: saved.complete(ErrorCode.NONE if error is None else ErrorCode(error.code))
        )
        return saved

    def run_when_flushed(self, step: Callable[[bool], None]) -> None:
        """Run step when the appends since the last response are flushed (flush.messages); at once if none must be.

        step: gets whether they are durable. The next response waits for it, and for the flush of what it appends.
        """
        flushed = self.flushed()
        if flushed is FLUSHED:
            step(True)
            return
        done: Deferred[ErrorCode] = Deferred(is_applied=True)
        self._pending_steps.append(done)

        def run(error_code: ErrorCode) -> None:
            has_failed = bool(error_code)
            try:
                step(not has_failed)
            except Exception:
                # The flush that calls this has other callers to inform.
                logger.exception("a step after a flush failed")
                has_failed = True
            self.flushed().deliver_to(
                lambda code: done.complete(ErrorCode.NOT_COORDINATOR if has_failed or code else ErrorCode.NONE)
            )

        flushed.deliver_to(run)

    # -- read

    @property
    def is_empty(self) -> bool:
        """Whether the topic does not exist, or this node leads no partition with records."""
        return not any(self._logs())

    def load(self, apply: ApplyRecord) -> None:
        """Replay the partitions that this node leads, except those whose records are in memory; see replay."""
        for index, log in self._logs():
            if index not in self._loaded:
                self._loaded.add(index)
                _replay(index, log, apply)
        self._changed(None)

    def forget(self) -> frozenset[int]:
        """Return the partitions that were loaded and now have another leader. The next load replays them."""
        lost = self._loaded.difference(partition.index for partition in self._led_partitions())
        self._loaded -= lost
        return frozenset(lost)

    def replay(self, apply: ApplyRecord) -> None:
        """Call apply with every record and transaction marker of the partitions that this node leads.

        Partition by partition, in the order of the log. Batches that cannot be decoded are skipped and logged.
        """
        for index, log in self._logs():
            _replay(index, log, apply)

    def _logs(self) -> Iterator[tuple[int, PartitionLog]]:
        """Yield the indexes and logs of the led partitions that have records."""
        for partition in self._led_partitions():
            log = partition.find_log()
            if log is not None and log.log_end_offset > log.log_start_offset:
                yield partition.index, log

    def _led_partitions(self) -> Iterator[Partition]:
        topic = self._find_topic()
        if topic is not None:
            yield from (each for each in self._replicas.partitions_of(topic) if each.is_leader)


def all_flushed(flushes: Iterable[Deferred[ErrorCode]]) -> Deferred[ErrorCode]:
    """Return what completes when all are complete: with NONE, or the highest of their errors as the client gets it."""
    pending = [each for each in flushes if each is not FLUSHED]
    if not pending:
        return FLUSHED
    flushed: Deferred[ErrorCode] = Deferred(is_applied=True)
    error_codes: list[ErrorCode] = []

    def add(error_code: ErrorCode) -> None:
        error_codes.append(_CLIENT_ERROR_CODES.get(error_code, error_code))
        if len(error_codes) == len(pending):
            flushed.complete(max(error_codes))

    for each in pending:
        each.deliver_to(add)
    return flushed


def _replay(index: int, log: PartitionLog, apply: ApplyRecord) -> None:
    for record in _records_of(log):
        apply(index, record)


def _records_of(log: PartitionLog) -> Iterator[ReplayedRecord]:
    start_offset = log.log_start_offset
    for header, batch in _batches_of(log):
        try:
            records = decode_batch(batch)
        except (InvalidRecords, IndexError, BrokenPayload) as error:
            logger.error("%s: the batch at offset %d is skipped: %s", log.topic_partition, header.base_offset, error)
            continue
        marker = decode_marker(header, batch)
        for each in records:
            if each.offset >= start_offset:
                yield ReplayedRecord(header, each.offset, each.timestamp, each.key, each.value, marker)


def _batches_of(log: PartitionLog) -> Iterator[WholeBatch]:
    offset, end_offset = log.log_start_offset, log.log_end_offset
    while offset < end_offset:
        try:
            fetched = log.read(offset, _REPLAY_READ_BYTES, upper_offset=end_offset, min_one_batch=True)
        except DamagedSegmentError as damage:
            logger.error("%s: offsets %d to %d are skipped", log.topic_partition, offset, damage.next_offset - 1)
            offset = damage.next_offset
            continue
        before = offset
        for batch in split_batches(memoryview(b"".join(fetched.views))):
            yield batch
            offset = batch.header.last_offset + 1
        if offset == before:
            # Compaction has removed all batches after this offset.
            return
