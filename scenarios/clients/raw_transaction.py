"""A transaction of the scenarios' own producer, as clients before transaction version 2 have them.

Partitions are added by a request of their own, once each, and the epoch stays what it is.
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
from ...protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ...protocol.produced_records import TransactionalProducer
from .client import ClientOptions, ClientStuck
from .raw_connection import RawConnection

FIND_COORDINATOR_VERSION = 3
TRANSACTION_COORDINATOR = 1
ADD_PARTITIONS_VERSION = 3
END_VERSION = 3


class RawTransaction:
    """One transaction."""

    def __init__(self, connection: RawConnection, options: ClientOptions) -> None:
        """Begin it, which no broker is told."""
        assert options.transactional_id is not None, "a producer without a transactional id has no transactions"
        self._connection = connection
        self._options = options
        self._transactional_id = options.transactional_id
        self._added: set[int] = set()

    def add(self, producer: TransactionalProducer, partition: int) -> None:
        """Add the partition, if it is not part of the transaction; one that is refused is told as a note."""
        if partition in self._added:
            return
        self._added.add(partition)
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self._transactional_id,
            v3_and_below_producer_id=producer.producer_id,
            v3_and_below_producer_epoch=producer.producer_epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=self._options.topic, partitions=[partition])],
        )
        answer = self._connection.ask(
            ApiKey.ADD_PARTITIONS_TO_TXN, ADD_PARTITIONS_VERSION, request, AddPartitionsToTxnResponse.read
        )
        code = answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code
        if code:
            self._options.note(
                f"adding partition {partition} is refused with {ErrorCode(code).name}; sends all the same"
            )

    def end(self, producer: TransactionalProducer, *, commit: bool) -> ErrorCode:
        """Commit or abort it, and return what came of that."""
        request = EndTxnRequest(
            transactional_id=self._transactional_id,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            committed=commit,
        )
        return ErrorCode(self._connection.ask(ApiKey.END_TXN, END_VERSION, request, EndTxnResponse.read).error_code)


def find_coordinator(connection: RawConnection, transactional_id: str) -> None:
    """Ask for the coordinator of the id, which there is from then on. Raises ClientStuck."""
    request = FindCoordinatorRequest(key=transactional_id, key_type=TRANSACTION_COORDINATOR)
    answer = connection.ask(ApiKey.FIND_COORDINATOR, FIND_COORDINATOR_VERSION, request, FindCoordinatorResponse.read)
    if answer.error_code:
        raise ClientStuck(f"FindCoordinator is answered with {ErrorCode(answer.error_code).name}")
