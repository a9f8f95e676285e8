"""Checks with the transaction coordinator that partitions are in a producer's transaction, or adds them.

The coordinator may be on another node than the partitions.

Before transaction version 2, clients add partitions by AddPartitionsToTxn, and Produce verifies them. From version 2
on, Produce and TxnOffsetCommit add their partitions themselves (KIP-890).
Without transaction.partition.verification.enable, nothing is verified, and partitions are added all the same.
Source: AddPartitionsToTxnManager.addOrVerifyTransaction and its completion handler, Kafka 4.3.0;
tests/golden/transaction_verification-4.3.0.jsonl.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ..coordinator_log import FLUSHED

if TYPE_CHECKING:
    from ...config.broker_config import BrokerConfig
    from ...runtime.deferred import Deferred
    from ..coordinators import Coordinators


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionCheck:
    """The check of one request.

    adds_partitions: add the partitions to the transaction; otherwise verify that they are in it.
    supports_abortable: the request's version has the error code TRANSACTION_ABORTABLE.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    adds_partitions: bool
    supports_abortable: bool

    def find_errors(
        self, coordinators: Coordinators, partitions: Collection[tuple[str, int]]
    ) -> dict[tuple[str, int], KafkaError]:
        """Return the errors of the partitions (topic name, index) that are not in the transaction.

        coordinators: those of the node of the partitions.
        """
        if self.adds_partitions:
            error = self._find_error(coordinators, partitions)
            return {} if error is None else dict.fromkeys(partitions, error)
        errors = {partition: self._find_error(coordinators, (partition,)) for partition in partitions}
        return {partition: error for partition, error in errors.items() if error is not None}

    def _find_error(self, coordinators: Coordinators, partitions: Collection[tuple[str, int]]) -> KafkaError | None:
        try:
            coordinator = coordinators.transactions_of(self.transactional_id)
            apply = coordinator.add if self.adds_partitions else coordinator.verify
            apply(self.transactional_id, self.producer_id, self.producer_epoch, partitions)
        except KafkaError as error:
            if error.code == ErrorCode.PRODUCER_FENCED:
                return KafkaError(ErrorCode.INVALID_PRODUCER_EPOCH, error.message)
            if error.code == ErrorCode.TRANSACTION_ABORTABLE and not self.supports_abortable:
                return KafkaError(ErrorCode.INVALID_TXN_STATE, error.message)
            return error
        return None


def is_checked(config: BrokerConfig, *, adds_partitions: bool) -> bool:
    """Return whether the first batch of a transaction in a partition is checked with the coordinator."""
    return adds_partitions or config.transaction_partition_verification_enable


def partitions_flushed(coordinators: Coordinators, transactional_id: str) -> Deferred[ErrorCode]:
    """Return what completes when the record of the added partitions is durable at the coordinator of the id.

    coordinators: those of the node of the partitions. See CoordinatorLog.flushed.
    """
    coordinator = coordinators.find_transactions_of(transactional_id)
    return FLUSHED if coordinator is None else coordinator.flushed()


def error_code_for_version(code: ErrorCode, api_version: int, *, fenced_since: int) -> ErrorCode:
    """Return INVALID_PRODUCER_EPOCH in place of PRODUCER_FENCED for versions without that error code (KIP-588).

    fenced_since: the first version of the API with PRODUCER_FENCED.
    """
    if code == ErrorCode.PRODUCER_FENCED and api_version < fenced_since:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return code
