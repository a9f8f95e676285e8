"""Asks the transaction coordinator whether partitions are, or may be, in a producer's transaction.

Requests that came before transaction version 2 had their partitions added by a request of their own, so that it is
verified; later ones make the partition join by themselves (KIP-890).
Source: AddPartitionsToTxnManager.addOrVerifyTransaction and its completion handler, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

from ....protocol.error_codes import ErrorCode, KafkaError
from ...metadata.metadata_image import TRANSACTION_STATE_TOPIC
from ...runtime.deferred import Deferred

if TYPE_CHECKING:
    from .transaction_coordinator import TransactionCoordinator

R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionCheck:
    """Whose transaction it is about, and what the version of the request can do and understand.

    joins: partitions join by themselves. knows_abortable: TRANSACTION_ABORTABLE is understood.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    joins: bool
    knows_abortable: bool

    def refused(
        self, coordinator: TransactionCoordinator, partitions: Collection[tuple[str, int]]
    ) -> dict[tuple[str, int], KafkaError]:
        """Return the partitions (topic and index) that are not in the transaction, each with why."""
        if self.joins:
            error = self._ask(coordinator, partitions)
            return {} if error is None else dict.fromkeys(partitions, error)
        errors = {partition: self._ask(coordinator, (partition,)) for partition in partitions}
        return {partition: error for partition, error in errors.items() if error is not None}

    def _ask(self, coordinator: TransactionCoordinator, partitions: Collection[tuple[str, int]]) -> KafkaError | None:
        whose = self.transactional_id, self.producer_id, self.producer_epoch
        try:
            if not coordinator.has_topic:
                raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, f"there is no {TRANSACTION_STATE_TOPIC} yet")
            if self.joins:
                coordinator.add(*whose, partitions)
            else:
                coordinator.verify(*whose, partitions)
        except KafkaError as error:
            return self._for_client(error)
        return None

    def _for_client(self, error: KafkaError) -> KafkaError:
        if error.code == ErrorCode.PRODUCER_FENCED:
            return KafkaError(ErrorCode.INVALID_PRODUCER_EPOCH, error.message)
        if error.code == ErrorCode.TRANSACTION_ABORTABLE and not self.knows_abortable:
            return KafkaError(ErrorCode.INVALID_TXN_STATE, error.message)
        return error


def when_joined(
    coordinator: TransactionCoordinator, response: R | Deferred[R], refused: Callable[[], R]
) -> R | Deferred[R]:
    """Return the response once the coordinator's record of the partitions that have joined is as safe as asked for.

    refused: makes the answer where it could not be flushed (flush.messages).
    """
    written = coordinator.when_durable(True, lambda _: False)
    if not isinstance(written, Deferred):
        return response
    deferred: Deferred[R] = Deferred(is_applied=True)

    def joined(is_written: bool) -> None:
        if not is_written:
            deferred.complete(refused())
        elif isinstance(response, Deferred):
            cast("Deferred[R]", response).deliver_to(deferred.complete)
        else:
            deferred.complete(response)

    written.deliver_to(joined)
    return deferred
