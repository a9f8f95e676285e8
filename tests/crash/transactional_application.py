"""An application that repeatedly writes a number to several partitions and an offset in one transaction.

It uses the protocol directly, to record whether the end of each transaction was acknowledged, and supports both
transaction versions.
"""

import threading
import time
from collections.abc import Callable
from random import Random
from typing import TypeVar

from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from fauxka.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from fauxka.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from fauxka.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from fauxka.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from fauxka.protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from fauxka.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from fauxka.scenarios.clients.raw_connection import ConnectionLost, NoResponse, RawConnection

TOPIC, PARTITION_COUNT = "transfers", 3
# The topic of the committed offsets; it is never read.
SOURCE_TOPIC = "source"
TRANSACTION_TIMEOUT_MS = 60_000
ABORTED_SHARE = 0.2
INIT_SECONDS_MAX = 20.0
# The errors of InitProducerId that are retried.
RETRIED = (
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)
GROUP, TRANSACTION = 0, 1

T = TypeVar("T")


class TransactionalApplication:
    """One transactional id. Its numbers grow; `committed` and `aborted` have those with an acknowledged end."""

    def __init__(self, name: str, random: Random, *, raises_epoch: bool) -> None:
        """raises_epoch: whether to use transaction version 2, where the epoch grows with each transaction."""
        self.name = name
        self.committed: set[int] = set()
        self.aborted: set[int] = set()
        # The number whose transaction was being ended when the connection was lost: committed or aborted.
        self.unknown: int | None = None
        self.number = 0
        # Set by the first transaction that ends on the current broker process.
        self.is_working = threading.Event()
        self._random = random
        self._raises_epoch = raises_epoch
        self._producer_id = self._producer_epoch = -1
        self._sequence = 0

    @property
    def transactional_id(self) -> str:
        return f"tx-{self.name}"

    @property
    def group_id(self) -> str:
        return f"group-{self.name}"

    def begin(self, connection: RawConnection) -> None:
        """Send InitProducerId, as at the start of a process; it aborts the open transaction."""
        for key_type, key in ((TRANSACTION, self.transactional_id), (GROUP, self.group_id)):
            find = FindCoordinatorRequest(key=key, key_type=key_type)
            connection.send_and_receive(ApiKey.FIND_COORDINATOR, 3, find, FindCoordinatorResponse.read)
        request = InitProducerIdRequest(
            transactional_id=self.transactional_id,
            transaction_timeout_ms=TRANSACTION_TIMEOUT_MS,
            producer_id=-1,
            producer_epoch=-1,
        )
        deadline = time.monotonic() + INIT_SECONDS_MAX
        while True:
            answer = connection.send_and_receive(ApiKey.INIT_PRODUCER_ID, 4, request, InitProducerIdResponse.read)
            if answer.error_code not in RETRIED:
                break
            assert time.monotonic() < deadline, f"{ErrorCode(answer.error_code).name} for {INIT_SECONDS_MAX} s"
        _check(answer.error_code)
        self._producer_id, self._producer_epoch = answer.producer_id, answer.producer_epoch
        self._sequence = 0

    def work_until_closed(self, connection: RawConnection) -> None:
        """Run transactions until the connection is lost."""
        self.is_working.clear()
        try:
            while True:
                self._transact(connection)
        except (ConnectionLost, NoResponse):
            return

    def _transact(self, connection: RawConnection) -> None:
        self.number += 1
        if not self._raises_epoch:
            self._add_to_transaction(connection)
        self._produce(connection)
        self._commit_offset(connection)
        is_commit = self._random.random() >= ABORTED_SHARE
        self.unknown = self.number
        self._end(connection, is_commit=is_commit)
        self.unknown = None
        (self.committed if is_commit else self.aborted).add(self.number)
        self.is_working.set()

    def _add_to_transaction(self, connection: RawConnection) -> None:
        partitions = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=self._producer_id,
            v3_and_below_producer_epoch=self._producer_epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=TOPIC, partitions=list(range(PARTITION_COUNT)))],
        )
        added = connection.send_and_receive(
            ApiKey.ADD_PARTITIONS_TO_TXN, 3, partitions, AddPartitionsToTxnResponse.read
        )
        for each in added.results_by_topic_v3_and_below[0].results_by_partition:
            _check(each.partition_error_code)
        offsets = AddOffsetsToTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self._producer_id,
            producer_epoch=self._producer_epoch,
            group_id=self.group_id,
        )
        _check(
            connection.send_and_receive(ApiKey.ADD_OFFSETS_TO_TXN, 3, offsets, AddOffsetsToTxnResponse.read).error_code
        )

    def _produce(self, connection: RawConnection) -> None:
        options = BatchOptions(
            producer_id=self._producer_id,
            producer_epoch=self._producer_epoch,
            base_sequence=self._sequence,
            is_transactional=True,
        )
        records = build_batch([Record(f"{self.name}:{self.number}".encode(), timestamp=_now_ms())], options)
        request = ProduceRequest(
            transactional_id=self.transactional_id,
            acks=-1,
            timeout_ms=1000,
            topic_data=[
                TopicProduceData(
                    name=TOPIC,
                    partition_data=[
                        PartitionProduceData(index=index, records=records) for index in range(PARTITION_COUNT)
                    ],
                )
            ],
        )
        version = 12 if self._raises_epoch else 11
        answer = connection.send_and_receive(ApiKey.PRODUCE, version, request, ProduceResponse.read)
        for each in answer.responses[0].partition_responses:
            _check(each.error_code)
        self._sequence += 1

    def _commit_offset(self, connection: RawConnection) -> None:
        partition = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=self.number)
        request = TxnOffsetCommitRequest(
            transactional_id=self.transactional_id,
            group_id=self.group_id,
            producer_id=self._producer_id,
            producer_epoch=self._producer_epoch,
            topics=[TxnOffsetCommitRequestTopic(name=SOURCE_TOPIC, partitions=[partition])],
        )
        version = 5 if self._raises_epoch else 3
        answer = connection.send_and_receive(ApiKey.TXN_OFFSET_COMMIT, version, request, TxnOffsetCommitResponse.read)
        _check(answer.topics[0].partitions[0].error_code)

    def _end(self, connection: RawConnection, *, is_commit: bool) -> None:
        request = EndTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self._producer_id,
            producer_epoch=self._producer_epoch,
            committed=is_commit,
        )
        answer = connection.send_and_receive(
            ApiKey.END_TXN, 5 if self._raises_epoch else 3, request, EndTxnResponse.read
        )
        _check(answer.error_code)
        if self._raises_epoch:
            self._producer_id, self._producer_epoch = answer.producer_id, answer.producer_epoch
            self._sequence = 0


def _check(error_code: int) -> None:
    assert error_code == ErrorCode.NONE, ErrorCode(error_code).name


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def connected(address: str, do: Callable[[RawConnection], T]) -> T:
    """Return the result of work with a new connection."""
    connection = RawConnection(address)
    try:
        return do(connection)
    finally:
        connection.close()
