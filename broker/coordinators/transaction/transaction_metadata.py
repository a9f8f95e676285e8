"""What the coordinator knows of one transactional id, and how each step changes it; nothing here is changed in place.

Transaction version 2 (KIP-890) raises the epoch with each transaction that a producer ends; in the versions before, an
epoch is raised only by a producer that begins anew, and by the broker where it ends a transaction by itself.
Source: TransactionMetadata, TransactionState and TransactionLog, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from ....protocol.stored_records.transaction_log_records import (
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_TIMESTAMP,
    TransactionLogValue,
    TransactionStatus,
)

# The last epoch that a producer gets; the one after it is for the marker that ends its transaction.
LAST_PRODUCER_EPOCH = 32766
# From this transaction version on, the end of a transaction raises the epoch.
EPOCH_BUMP_SINCE = 2
# What requests say by whose version a client does not know of transaction versions.
OLD_CLIENT = 0

# A topic's name and a partition's index.
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

    previous_producer_id: the one before the newest step; another one only after an epoch was exhausted.
    next_producer_id: what takes the place of the producer id when a transaction in its last epoch has ended.
    last_producer_epoch: the one before, whose producer may repeat what raised it; it is not in the log.
    partitions: those of the open transaction, and of one that is being ended those that are not yet told so; in the
    order in which they joined, as the keys of a mapping.
    client_version: the transaction version of who took the newest step.
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
        """The state as Kafka's answers call it."""
        return STATE_NAMES[self.status]

    @property
    def is_epoch_exhausted(self) -> bool:
        """Whether the producer id has no further epoch to give."""
        return self.producer_epoch >= LAST_PRODUCER_EPOCH

    @property
    def is_ongoing(self) -> bool:
        """Whether a transaction is open."""
        return self.status is TransactionStatus.ONGOING

    @property
    def is_prepared(self) -> bool:
        """Whether it is decided how the transaction ends, and not yet told everywhere."""
        return self.status in _PREPARED

    @property
    def is_commit(self) -> bool:
        """Whether a transaction that is being ended is committed."""
        return self.status is TransactionStatus.PREPARE_COMMIT

    @property
    def given_producer_id(self) -> int:
        """The producer id to go on with after the transaction that is being ended."""
        return self.producer_id if self.next_producer_id == NO_PRODUCER_ID else self.next_producer_id

    @property
    def given_producer_epoch(self) -> int:
        """The epoch to go on with after the transaction that is being ended."""
        return self.producer_epoch if self.next_producer_id == NO_PRODUCER_ID else 0

    def is_timed_out(self, now_ms: int) -> bool:
        """Whether the open transaction has been so for longer than its producer wanted."""
        return self.is_ongoing and self.start_ms + self.timeout_ms < now_ms

    def is_expired(self, now_ms: int, expiration_ms: int) -> bool:
        """Whether nothing has happened for expiration_ms, and nothing is under way."""
        is_at_rest = not self.is_ongoing and not self.is_prepared
        return is_at_rest and self.last_update_ms <= now_ms - expiration_ms

    def as_value(self) -> TransactionLogValue:
        """Return what is kept of it."""
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


def metadata_of(transactional_id: str, value: TransactionLogValue) -> TransactionMetadata:
    """Return what a log says of a transactional id."""
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


def begun(
    before: TransactionMetadata,
    *,
    producer_id: int,
    producer_epoch: int,
    last_producer_epoch: int,
    timeout_ms: int,
    now_ms: int,
) -> TransactionMetadata:
    """Return it with a producer that begins anew, without any transaction."""
    return replace(
        before,
        producer_id=producer_id,
        previous_producer_id=before.producer_id,
        producer_epoch=producer_epoch,
        last_producer_epoch=last_producer_epoch,
        timeout_ms=timeout_ms,
        status=TransactionStatus.EMPTY,
        partitions={},
        start_ms=NO_TIMESTAMP,
        last_update_ms=now_ms,
    )


def joined(
    before: TransactionMetadata, partitions: Collection[TopicPartition], client_version: int, now_ms: int
) -> TransactionMetadata:
    """Return it with partitions in its open transaction, which begins with the first of them."""
    return replace(
        before,
        previous_producer_id=before.producer_id,
        status=TransactionStatus.ONGOING,
        partitions={**before.partitions, **dict.fromkeys(partitions)},
        start_ms=before.start_ms if before.is_ongoing else now_ms,
        last_update_ms=now_ms,
        client_version=client_version,
    )


def prepared(
    before: TransactionMetadata, *, is_commit: bool, client_version: int, next_producer_id: int, now_ms: int
) -> TransactionMetadata:
    """Return it with the end of its transaction decided, which may be one that no partition has joined.

    next_producer_id: for a producer id whose epochs are exhausted; NO_PRODUCER_ID otherwise.
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


def fenced(
    before: TransactionMetadata, *, client_version: int, next_producer_id: int, now_ms: int
) -> TransactionMetadata:
    """Return it with its open transaction aborted by the broker, in an epoch that its producer does not know.

    client_version: the transaction version of the broker.
    """
    if client_version < EPOCH_BUMP_SINCE:
        before = replace(before, producer_epoch=before.producer_epoch + 1, last_producer_epoch=NO_PRODUCER_EPOCH)
    return prepared(
        before, is_commit=False, client_version=client_version, next_producer_id=next_producer_id, now_ms=now_ms
    )


def completed(before: TransactionMetadata, now_ms: int) -> TransactionMetadata:
    """Return it with its transaction ended everywhere."""
    return replace(
        before,
        producer_id=before.given_producer_id,
        previous_producer_id=before.producer_id,
        next_producer_id=NO_PRODUCER_ID,
        producer_epoch=before.given_producer_epoch,
        status=TransactionStatus.COMPLETE_COMMIT if before.is_commit else TransactionStatus.COMPLETE_ABORT,
        partitions={},
        last_update_ms=now_ms,
    )
