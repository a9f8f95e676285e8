"""The records that coordinators keep their state in: appended before the state changes, and read again at a start.

What belongs together is one batch in the partition that the group's or transactional id belongs to; nobody sees a part
of it, whenever the node dies. A coordinator checks, appends, and only then changes what it has in memory.
Source: CoordinatorRuntime and TransactionStateManager.appendTransactionToLog, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ...protocol.batches.compression import BrokenPayload
from ...protocol.batches.control_records import EndTransactionMarker, decode_marker
from ...protocol.batches.record_batch import HEADER_SIZE, NO_PRODUCER_ID, BatchHeader, is_whole, parse_header
from ...protocol.batches.record_validation import InvalidRecords
from ...protocol.batches.records import BatchOptions, Record, build_batch, decode_batch
from ...protocol.error_codes import ErrorCode, KafkaError
from ...storage.coordinator_batch import TransactionalRecords
from ..runtime.deferred import Deferred
from .internal_topics import INTERNAL_TOPICS, CoordinatorType, partition_of_key

if TYPE_CHECKING:
    from ...storage.partition_log import PartitionLog
    from ..metadata.controller import Controller
    from ..replica.partition import Partition
    from ..replica.partition_flusher import PartitionFlusher
    from ..replica.replica_manager import ReplicaManager

logger = logging.getLogger(__name__)

# Read at a time when a topic is replayed (offsets.load.buffer.size has five times that).
_REPLAY_BYTES = 1024 * 1024

# What a coordinator answers where its records cannot be appended.
# Source: CoordinatorOperationExceptionHelper.handleOperationException, Kafka 4.3.0.
_TRANSLATED: Mapping[int, ErrorCode] = MappingProxyType(
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

# The batches that coordinators write are nobody's.
_NOBODY = BatchOptions()

# Batches without a producer; the sequence in them means nothing, and group and share coordinators write 0 (seen in
# tests/golden/consumer_offsets-4.3.0.log).
_NOBODYS_OF: Mapping[CoordinatorType, BatchOptions] = MappingProxyType(
    {
        CoordinatorType.GROUP: BatchOptions(base_sequence=0),
        CoordinatorType.TRANSACTION: _NOBODY,
        CoordinatorType.SHARE: BatchOptions(base_sequence=0),
    }
)

R = TypeVar("R")


class CoordinatorRecord(NamedTuple):
    """A record of a coordinator; a value of None says that what the key stands for is gone."""

    key: bytes
    value: bytes | None


class ReplayedRecord(NamedTuple):
    """A record as it is read again.

    header: of its batch, for the producer and whether it belongs to a transaction.
    marker: how the producer's transaction ended in this partition; key and value say nothing more then.
    """

    header: BatchHeader
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    marker: EndTransactionMarker | None


# Is told the partition that a record is in, and the record.
ApplyRecord = Callable[[int, ReplayedRecord], None]


class CoordinatorLog:
    """The topic of one kind of coordinator, as that one writes and reads it."""

    __slots__ = ("_controller", "_is_current", "_is_unsaved", "_replicas", "_type", "_unsettled")

    def __init__(
        self,
        controller: Controller,
        replicas: ReplicaManager,
        coordinator_type: CoordinatorType,
        is_current: Callable[[], bool],
    ) -> None:
        """Read and write nothing yet: the topic is created with the first record.

        is_current: returns whether the node still has the coordinator that writes this log.
        """
        self._controller = controller
        self._replicas = replicas
        self._is_current = is_current
        self._type = coordinator_type
        # What is to be flushed before it is answered: up to which offset, by what flushes it.
        self._unsettled: dict[PartitionFlusher, int] = {}
        # Whether the cluster's metadata is not on disk yet, of which the topic itself may be.
        self._is_unsaved = False

    @property
    def is_current(self) -> bool:
        """Whether the node still has this coordinator, and has not died or been reset since."""
        return self._is_current()

    # -- write

    def append(self, key_text: str, records: Sequence[CoordinatorRecord], options: BatchOptions = _NOBODY) -> int:
        """Append the records as one batch to the partition that the id belongs to; return the first one's offset.

        options: the producer of offsets that belong to a transaction; nobody's by default.
        Raises KafkaError, which is for the client: COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, UNKNOWN_SERVER_ERROR.
        Nothing was written then.
        """
        if not self.is_current:
            raise KafkaError(ErrorCode.NOT_COORDINATOR, "the node died, or has begun anew")
        try:
            return self._append(self._partition_of(key_text), records, options)
        except KafkaError as error:
            raise KafkaError(_TRANSLATED.get(error.code, error.code), error.message) from error

    def partition_index_of(self, key_text: str) -> int:
        """Return the index of the partition that the group's or transactional id belongs to. Raises KafkaError."""
        return self._partition_of(key_text).index

    def _partition_of(self, key_text: str) -> Partition:
        return partition_of_key(self._controller, self._replicas, self._type, key_text)

    def _append(self, partition: Partition, records: Sequence[CoordinatorRecord], options: BatchOptions) -> int:
        now_ms = self._replicas.clock.now_ms()
        stamped = [Record(key=each.key, value=each.value, timestamp=now_ms) for each in records]
        if options.producer_id == NO_PRODUCER_ID:
            batch = build_batch(stamped, _NOBODYS_OF[self._type])
            result = partition.append(memoryview(batch), now_ms)
        else:
            batch = build_batch(stamped, options)
            result = partition.append_coordinated(TransactionalRecords(batch), now_ms)
        flusher = partition.flusher
        if flusher is not None and flusher.must_wait():
            self._unsettled[flusher] = result.last_offset + 1
        self._is_unsaved |= not self._controller.is_saved
        return result.base_offset

    def when_durable(self, response: R, refused: Callable[[ErrorCode], R]) -> R | Deferred[R]:
        """Return the response to what was appended since it was last asked, now or when that is as safe as asked for.

        refused: makes the answer where it could not be flushed (flush.messages).
        """
        unsettled, self._unsettled = self._unsettled, {}
        is_unsaved, self._is_unsaved = self._is_unsaved, False
        if not unsettled and not is_unsaved:
            return response
        deferred: Deferred[R] = Deferred(is_applied=True)
        left = len(unsettled) + is_unsaved
        answer = response

        def settled(*, is_safe: bool) -> None:
            nonlocal left, answer
            if not is_safe:
                answer = refused(_TRANSLATED[ErrorCode.KAFKA_STORAGE_ERROR])
            left -= 1
            if not left:
                deferred.complete(answer)

        for flusher, end_offset in unsettled.items():
            flusher.when_flushed(end_offset, lambda error: settled(is_safe=error is None))
        if is_unsaved:
            # A start would not know the topic that has come into being for this.
            saved = self._controller.when_saved(lambda error: error is None)
            if isinstance(saved, Deferred):
                saved.deliver_to(lambda is_safe: settled(is_safe=is_safe))
            else:
                settled(is_safe=saved)
        return deferred

    # -- read

    @property
    def is_empty(self) -> bool:
        """Whether nothing is to be replayed: there is no topic, or it has no records."""
        return not any(self._logs())

    def replay(self, apply: ApplyRecord) -> None:
        """Tell apply all records, partition by partition and in order; markers of transactions among them.

        A batch that cannot be read is passed over, and said so.
        """
        for index, log in self._logs():
            for record in _records_of(log):
                apply(index, record)

    def _logs(self) -> Iterator[tuple[int, PartitionLog]]:
        """Yield the logs that have records."""
        topic = self._controller.image.find_topic(INTERNAL_TOPICS[self._type].name)
        for partition in [] if topic is None else self._replicas.partitions_of(topic):
            log = partition.find_log()
            if log is not None and log.log_end_offset > log.log_start_offset:
                yield partition.index, log


def _records_of(log: PartitionLog) -> Iterator[ReplayedRecord]:
    start_offset = log.log_start_offset
    for header, batch in _batches_of(log):
        try:
            records = decode_batch(batch)
        except (InvalidRecords, IndexError, BrokenPayload) as error:
            logger.error("%s: the batch at %d is passed over: %s", log.topic_partition, header.base_offset, error)
            continue
        marker = decode_marker(header, batch)
        for each in records:
            if each.offset >= start_offset:
                yield ReplayedRecord(header, each.offset, each.timestamp, each.key, each.value, marker)


def _batches_of(log: PartitionLog) -> Iterator[tuple[BatchHeader, memoryview]]:
    offset, end_offset = log.log_start_offset, log.log_end_offset
    while offset < end_offset:
        fetched = log.read(offset, _REPLAY_BYTES, upper_offset=end_offset, min_one_batch=True)
        data = memoryview(b"".join(fetched.views))
        position, before = 0, offset
        while position + HEADER_SIZE <= len(data):
            header = parse_header(data, position)
            if not is_whole(header, len(data) - position):
                break
            yield header, data[position : position + header.size]
            position += header.size
            offset = header.last_offset + 1
        if offset == before:
            # Compaction has left nothing behind the last batch.
            return
