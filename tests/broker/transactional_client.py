"""A blocking client with the transactional id "tx"."""

from __future__ import annotations

import time
from collections.abc import Callable

from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from fauxka.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)
from fauxka.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from fauxka.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from fauxka.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

from .blocking_client import BlockingClient

TIMEOUT_MS = 60_000
# Far more than a few flushes take.
SECONDS_MAX = 20.0


class TransactionalClient(BlockingClient):
    """A producer with the transactional id "tx"."""

    def find_coordinator(self) -> int:
        request = FindCoordinatorRequest(key_type=1, key="tx")
        return self._connection.send_request(
            ApiKey.FIND_COORDINATOR, 3, request, FindCoordinatorResponse.read
        ).error_code

    def init(self) -> InitProducerIdResponse:
        request = InitProducerIdRequest(transactional_id="tx", transaction_timeout_ms=TIMEOUT_MS)
        return self._connection.send_request(ApiKey.INIT_PRODUCER_ID, 5, request, InitProducerIdResponse.read)

    def add(self, producer: tuple[int, int]) -> int:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="tx",
            v3_and_below_producer_id=producer[0],
            v3_and_below_producer_epoch=producer[1],
            v3_and_below_topics=[AddPartitionsToTxnTopic(name="events", partitions=[0])],
        )
        answer = self._connection.send_request(
            ApiKey.ADD_PARTITIONS_TO_TXN, 3, request, AddPartitionsToTxnResponse.read
        )
        return answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code

    def end(self, producer: tuple[int, int], *, is_commit: bool) -> EndTxnResponse:
        request = EndTxnRequest(
            transactional_id="tx", producer_id=producer[0], producer_epoch=producer[1], committed=is_commit
        )
        return self._connection.send_request(ApiKey.END_TXN, 5, request, EndTxnResponse.read)

    def state(self) -> TransactionState:
        request = DescribeTransactionsRequest(transactional_ids=["tx"])
        answer = self._connection.send_request(
            ApiKey.DESCRIBE_TRANSACTIONS, 0, request, DescribeTransactionsResponse.read
        )
        return answer.transaction_states[0]

    def begin(self) -> tuple[int, int]:
        """Begin a transaction. Return the producer id and epoch."""
        assert self.find_coordinator() == 0
        begun = self.init()
        producer = (begun.producer_id, begun.producer_epoch)
        assert (begun.error_code, self.add(producer)) == (0, 0)
        return producer

    def wait_until_complete(self, meanwhile: Callable[[], object] = lambda: None) -> None:
        """Return when the transaction is not ending any more: its markers and its completion are written.

        meanwhile: called again and again, for example to advance a clock.
        """
        deadline = time.monotonic() + SECONDS_MAX
        while self.state().transaction_state.startswith("Prepare"):
            assert time.monotonic() < deadline, "the transaction does not end"
            meanwhile()
            time.sleep(0.01)
