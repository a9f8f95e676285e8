"""A transaction of the raw client, as in clients before transaction version 2.

AddPartitionsToTxn adds each partition once, and the epoch does not change.
"""

from __future__ import annotations

from ...protocol.api_keys import ApiKey
from ...protocol.error_codes import ErrorCode
from ...protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from ...protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from ...protocol.produced_records import TransactionalProducer
from .client import ClientOptions
from .raw_coordinator import CoordinatorApi, RawCoordinator


def _partition_error(answer: AddPartitionsToTxnResponse) -> int:
    return answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code


_ADD_PARTITIONS = CoordinatorApi(
    ApiKey.ADD_PARTITIONS_TO_TXN, 3, AddPartitionsToTxnResponse.read, error_code_of=_partition_error
)
_END = CoordinatorApi(ApiKey.END_TXN, 3, EndTxnResponse.read, error_code_of=lambda answer: answer.error_code)


class RawTransaction:
    """One transaction."""

    def __init__(self, coordinator: RawCoordinator, options: ClientOptions) -> None:
        """Begin a transaction, without a request."""
        assert options.transactional_id is not None, "transactions need a transactional id"
        self._coordinator = coordinator
        self._options = options
        self._transactional_id = options.transactional_id
        self._added: set[int] = set()

    def add(self, producer: TransactionalProducer, partition: int) -> None:
        """Add a partition to the transaction, once; a refusal becomes a note."""
        if partition in self._added:
            return
        self._added.add(partition)
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self._transactional_id,
            v3_and_below_producer_id=producer.producer_id,
            v3_and_below_producer_epoch=producer.producer_epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=self._options.topic, partitions=[partition])],
        )
        code = _partition_error(self._coordinator.ask(_ADD_PARTITIONS, request))
        if code:
            self._options.note(
                f"adding partition {partition} is refused with {ErrorCode(code).name}; sends the batch anyway"
            )

    def end(self, producer: TransactionalProducer, *, commit: bool) -> ErrorCode:
        """Commit or abort the transaction, and return the error code."""
        request = EndTxnRequest(
            transactional_id=self._transactional_id,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            committed=commit,
        )
        return ErrorCode(self._coordinator.ask(_END, request).error_code)
