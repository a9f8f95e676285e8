"""The refusal of a batch: the error for the client and the producer state behind it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ..protocol.batches.record_batch import BatchHeader
from ..protocol.error_codes import ErrorCode, KafkaError
from .append_result import NO_LOG_START_OFFSET
from .producers.producer_state_entry import CachedBatch


@dataclass(frozen=True, slots=True)
class RecordError:
    """An invalid record of a refused batch; batch_index is its index in the batch."""

    batch_index: int
    message: str | None


class SequenceRule(Enum):
    """The rule of the producer state that a batch broke. The values end the message of the refusal."""

    OLD_EPOCH = "an older epoch is fenced"
    NEW_EPOCH_STARTS_AT_ZERO = "a new epoch starts with sequence 0"
    UNKNOWN_STARTS_AT_ZERO = "a producer unknown to the partition starts with sequence 0"
    UNKNOWN_PRODUCER = "the partition has no state of the producer"
    GAP = "a gap is refused as a whole"
    BEFORE_CACHE = "it is older than the cached batches"
    NOT_A_CACHED_BATCH = "it overlaps appended sequences and equals no cached batch"
    OVERTAKES = "an earlier batch of the transaction is not in the log"
    OPEN_TRANSACTION = "a transaction is open and the batch is not part of it"


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceRefusal:
    """The batch and the producer state behind a refusal.

    expected_sequence: None if no sequence is accepted.
    current_epoch: the producer's epoch in the partition; None if the partition has no state of the producer.
    cached: the cached batches, oldest first.
    """

    rule: SequenceRule
    producer_id: int
    producer_epoch: int
    base_sequence: int
    last_sequence: int
    expected_sequence: int | None
    current_epoch: int | None
    cached: tuple[CachedBatch, ...]


class AppendRefused(KafkaError):
    """A batch was not appended; the log is unchanged.

    log_start_offset: for the response; -1 for the errors that Kafka sends without it.
    record_errors: the invalid records, for the errors that name them.
    message_for_client: the error_message that Kafka sends; None for most errors. message is for fauxka's own log.
    refusal: set if the producer state was the reason.
    header: the header of the batch as received, set for the journal.
    """

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        *,
        log_start_offset: int = NO_LOG_START_OFFSET,
        record_errors: tuple[RecordError, ...] = (),
        message_for_client: str | None = None,
    ) -> None:
        """Set refusal and header to None; the caller fills them in."""
        super().__init__(code, message)
        self.log_start_offset = log_start_offset
        self.record_errors = record_errors
        self.message_for_client = message_for_client
        self.refusal: SequenceRefusal | None = None
        self.header: BatchHeader | None = None
