"""The state of one transactional id, and the functions that return its next state. No instance is changed in place.

Each prepare function returns the metadata after one transition, for the coordinator to write and then to store.
From transaction version 2 on (KIP-890) the end of each transaction raises the producer epoch. In older versions only
InitProducerId and an abort by the broker raise it.
Source: TransactionMetadata, TransactionState and TransactionLog, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from ....protocol.produced_records import TransactionalProducer
from ....protocol.stored_records.transaction_log_records import (
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_TIMESTAMP,
    TransactionLogValue,
    TransactionStatus,
)

# The last epoch of a producer. The epoch after it is for the marker that ends its transaction.
LAST_PRODUCER_EPOCH = 32766
# The epoch of that marker: the largest int16.
FENCING_EPOCH_MAX = LAST_PRODUCER_EPOCH + 1
# The first transaction version in which the end of a transaction raises the epoch.
EPOCH_BUMP_SINCE = 2
# The transaction version of requests whose API version has none.
OLD_CLIENT = 0

# Topic name and partition index.
TopicPartition = tuple[str, int]

STATE_NAMES: Mapping[TransactionStatus, str] = {
    TransactionStatus.EMPTY: "Empty",
    TransactionStatus.ONGOING: "Ongoing",
    TransactionStatus.PREPARE_COMMIT: "PrepareCommit",
    TransactionStatus.PREPARE_ABORT: "PrepareAbort",
    TransactionStatus.COMPLETE_COMMIT: "CompleteCommit",
    TransactionStatus.COMPLETE_ABORT: "CompleteAbort",
    TransactionStatus.DEAD: "Dead",
    TransactionStatus.PREPARE_EPOCH_FENCE: "PrepareEpochFence",
}
_PREPARED = (TransactionStatus.PREPARE_COMMIT, TransactionStatus.PREPARE_ABORT)


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionMetadata:
    """One transactional id.

    previous_producer_id: the producer id before the last transition. It differs only after an epoch overflow.
    next_producer_id: the producer id after the present transaction, if that has used the last epoch.
    last_producer_epoch: the previous epoch, whose producer may repeat the request that raised it. It is not in the log.
    partitions: the keys are the partitions of the open transaction, in the order in which they were added. While the
    transaction ends, they are the partitions without a marker.
    client_version: the transaction version of the last transition.
    """

    transactional_id: str
    producer_id: int
    timeout_ms: int
    last_update_ms: int
    previous_producer_id: int = NO_PRODUCER_ID
    next_producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    last_producer_epoch: int = NO_PRODUCER_EPOCH
    status: TransactionStatus = TransactionStatus.EMPTY
    partitions: Mapping[TopicPartition, None] = field(default_factory=dict[TopicPartition, None])
    start_ms: int = NO_TIMESTAMP
    client_version: int = OLD_CLIENT

    @property
    def state_name(self) -> str:
        """The state by Kafka's name."""
        return STATE_NAMES[self.status]

    @property
    def is_epoch_exhausted(self) -> bool:
        """Whether the producer id has no further epoch."""
        return self.producer_epoch >= LAST_PRODUCER_EPOCH

    @property
    def is_ongoing(self) -> bool:
        """Whether a transaction is open."""
        return self.status is TransactionStatus.ONGOING

    @property
    def is_prepared(self) -> bool:
        """Whether the outcome of the transaction is decided, and markers are missing."""
        return self.status in _PREPARED

    @property
    def is_commit(self) -> bool:
        """Whether the decided outcome is a commit."""
        return self.status is TransactionStatus.PREPARE_COMMIT

    @property
    def producer_after_end(self) -> TransactionalProducer:
        """The producer id and epoch after the transaction that is ending."""
        if self.next_producer_id == NO_PRODUCER_ID:
            return TransactionalProducer(self.producer_id, self.producer_epoch)
        return TransactionalProducer(self.next_producer_id, 0)

    def is_timed_out(self, now_ms: int) -> bool:
        """Whether the transaction has been open for longer than its timeout."""
        return self.is_ongoing and self.start_ms + self.timeout_ms < now_ms

    def is_expired(self, now_ms: int, expiration_ms: int) -> bool:
        """Whether there is no transaction, and the last transition was expiration_ms ago."""
        has_transaction = self.is_ongoing or self.is_prepared
        return not has_transaction and self.last_update_ms <= now_ms - expiration_ms

    def as_value(self) -> TransactionLogValue:
        """Return the value of the record in __transaction_state."""
        partitions: dict[str, list[int]] | None = None
        if self.status is not TransactionStatus.EMPTY:
            partitions = {}
            for topic, index in self.partitions:
                partitions.setdefault(topic, []).append(index)
        return TransactionLogValue(
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            timeout_ms=self.timeout_ms,
            status=self.status,
            partitions=partitions,
            last_update_ms=self.last_update_ms,
            start_ms=self.start_ms,
            previous_producer_id=self.previous_producer_id,
            next_producer_id=self.next_producer_id,
            client_transaction_version=self.client_version,
        )


def metadata_from_value(transactional_id: str, value: TransactionLogValue) -> TransactionMetadata:
    """Return the metadata of a record in __transaction_state."""
    return TransactionMetadata(
        transactional_id=transactional_id,
        producer_id=value.producer_id,
        timeout_ms=value.timeout_ms,
        last_update_ms=value.last_update_ms,
        previous_producer_id=value.previous_producer_id,
        next_producer_id=value.next_producer_id,
        producer_epoch=value.producer_epoch,
        status=value.status,
        partitions={(topic, index): None for topic, indexes in (value.partitions or {}).items() for index in indexes},
        start_ms=value.start_ms,
        client_version=value.client_transaction_version,
    )


def prepare_new_epoch(
    before: TransactionMetadata,
    producer: TransactionalProducer,
    *,
    last_producer_epoch: int,
    timeout_ms: int,
    now_ms: int,
) -> TransactionMetadata:
    """Return the metadata with the producer of an InitProducerId, and without a transaction."""
    return replace(
        before,
        producer_id=producer.producer_id,
        previous_producer_id=before.producer_id,
        producer_epoch=producer.producer_epoch,
        last_producer_epoch=last_producer_epoch,
        timeout_ms=timeout_ms,
        status=TransactionStatus.EMPTY,
        partitions={},
        start_ms=NO_TIMESTAMP,
        last_update_ms=now_ms,
    )


def prepare_add_partitions(
    before: TransactionMetadata, partitions: Collection[TopicPartition], client_version: int, now_ms: int
) -> TransactionMetadata:
    """Return the metadata with partitions added to the transaction. Without an open transaction, one begins."""
    return replace(
        before,
        previous_producer_id=before.producer_id,
        status=TransactionStatus.ONGOING,
        partitions={**before.partitions, **dict.fromkeys(partitions)},
        start_ms=before.start_ms if before.is_ongoing else now_ms,
        last_update_ms=now_ms,
        client_version=client_version,
    )


def prepare_end(
    before: TransactionMetadata, *, is_commit: bool, client_version: int, next_producer_id: int, now_ms: int
) -> TransactionMetadata:
    """Return the metadata with the outcome of the transaction decided. The transaction may be empty and not open.

    next_producer_id: NO_PRODUCER_ID, unless the epochs of the producer id are exhausted.
    """
    is_raised = client_version >= EPOCH_BUMP_SINCE
    return replace(
        before,
        previous_producer_id=before.producer_id,
        next_producer_id=next_producer_id,
        producer_epoch=before.producer_epoch + 1 if is_raised else before.producer_epoch,
        last_producer_epoch=before.producer_epoch if is_raised else before.last_producer_epoch,
        status=TransactionStatus.PREPARE_COMMIT if is_commit else TransactionStatus.PREPARE_ABORT,
        start_ms=before.start_ms if before.is_ongoing else now_ms,
        last_update_ms=now_ms,
        client_version=client_version,
    )


def prepare_fenced_abort(
    before: TransactionMetadata, *, client_version: int, next_producer_id: int, now_ms: int
) -> TransactionMetadata:
    """Return the metadata with an abort by the broker, in an epoch that fences the producer.

    client_version: the transaction version of the broker.
    """
    if client_version < EPOCH_BUMP_SINCE:
        before = replace(before, producer_epoch=before.producer_epoch + 1, last_producer_epoch=NO_PRODUCER_EPOCH)
    return prepare_end(
        before, is_commit=False, client_version=client_version, next_producer_id=next_producer_id, now_ms=now_ms
    )


def prepare_complete(before: TransactionMetadata, now_ms: int) -> TransactionMetadata:
    """Return the metadata after the last marker of the transaction."""
    producer = before.producer_after_end
    return replace(
        before,
        producer_id=producer.producer_id,
        previous_producer_id=before.producer_id,
        next_producer_id=NO_PRODUCER_ID,
        producer_epoch=producer.producer_epoch,
        status=TransactionStatus.COMPLETE_COMMIT if before.is_commit else TransactionStatus.COMPLETE_ABORT,
        partitions={},
        last_update_ms=now_ms,
    )
