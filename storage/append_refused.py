"""Why a log refused a batch: what goes to the client, and the numbers that say why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ..protocol.batches.record_batch import BatchHeader
from ..protocol.error_codes import ErrorCode, KafkaError
from .append_result import NO_LOG_START_OFFSET
from .producers.producer_state_entry import CachedBatch


@dataclass(frozen=True, slots=True)
class RecordError:
    """A record of a refused batch that is itself at fault; batch_index counts the records of the batch."""

    batch_index: int
    message: str | None


class SequenceRule(Enum):
    """The rule of the producer's state machine that a batch broke, in the words that explain it."""

    OLD_EPOCH = "an older epoch is fenced"
    NEW_EPOCH_STARTS_AT_ZERO = "a new epoch starts with sequence 0"
    UNKNOWN_STARTS_AT_ZERO = "a producer unknown to the partition starts with sequence 0"
    UNKNOWN_PRODUCER = "the producer is not known here, or no longer"
    GAP = "a gap is refused as a whole"
    BEFORE_CACHE = "it lies before the batches that are remembered"
    NOT_A_CACHED_BATCH = "it overlaps what was appended and is none of the remembered batches"
    OVERTAKES = "a batch of the transaction that came before is not in the log"
    OPEN_TRANSACTION = "a transaction is open and the batch is not part of it"


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceRefusal:
    """The numbers behind a refusal by producer state.

    expected_sequence: None where no sequence would have been accepted.
    current_epoch: the partition's for the producer, None if it does not know it.
    cached: the batches it remembers, oldest first.
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
    """A batch that was not appended; the log is as it was.

    log_start_offset: for the answer; -1 for the errors that Kafka answers without it.
    record_errors: the records at fault, for the errors that name them.
    message_for_client: the error_message Kafka sends; None, for most errors, is none. message is ours, for the log.
    refusal: the numbers, if the producer's state was the reason.
    header: of the batch as it came, where it was given to those who keep a record of it.
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
        """Keep what the answer and the journal need."""
        super().__init__(code, message)
        self.log_start_offset = log_start_offset
        self.record_errors = record_errors
        self.message_for_client = message_for_client
        self.refusal: SequenceRefusal | None = None
        self.header: BatchHeader | None = None
