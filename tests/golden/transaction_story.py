"""The requests of one transactional id, as the capture programs of transactions record them."""

from typing import TypedDict

from fauxka.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from fauxka.protocol.messages.describe_producers import DescribeProducersRequest, TopicRequest
from fauxka.protocol.messages.describe_transactions import DescribeTransactionsRequest, DescribeTransactionsResponse
from fauxka.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from fauxka.protocol.messages.find_coordinator import FindCoordinatorRequest
from fauxka.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from fauxka.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from fauxka.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from fauxka.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

from . import raw_batches
from .capture_batches import FIRST_TIMESTAMP
from .capture_recorder import Recorder

INIT_VERSION = 5
# Kafka's errors of a coordinator that is not ready, and of a transaction that is still being completed.
NOT_READY = (14, 15, 16, 51)
# The newest versions of clients before KIP-890, and the first ones with it.
OLD_PRODUCE, NEW_PRODUCE = 11, 12
OLD_END, NEW_END = 4, 5


class Sent(TypedDict):
    """How a record is sent."""

    partition: int
    is_transactional: bool


class Story:
    """One transactional id, and a topic with three partitions."""

    def __init__(self, recorder: Recorder, title: str) -> None:
        self.recorder = recorder
        self.title = title
        self.transactional_id = f"tx-{title}"
        self.topic = f"topic-{title}"
        recorder.create_topic(self.topic, 3, retention_ms="-1")
        self.producer_id = self._first_init().producer_id

    def _first_init(self) -> InitProducerIdResponse:
        responses: list[InitProducerIdResponse] = []

        def is_ready() -> bool:
            self.recorder.call(FindCoordinatorRequest(key_type=1, coordinator_keys=[self.transactional_id]), 6)
            response = self.recorder.call(self.init_request(), INIT_VERSION, InitProducerIdResponse)
            responses.append(response)
            return response.error_code not in NOT_READY

        self.recorder.wait(is_ready, "the transaction coordinator")
        return responses[-1]

    def init_request(self, producer: tuple[int, int] = (-1, -1)) -> InitProducerIdRequest:
        """Return the request for the next epoch, of a client that has this producer id and epoch or none."""
        return InitProducerIdRequest(
            transactional_id=self.transactional_id,
            transaction_timeout_ms=60_000,
            producer_id=producer[0],
            producer_epoch=producer[1],
        )

    def init(self, what: str, producer: tuple[int, int] = (-1, -1)) -> InitProducerIdResponse:
        """Record an InitProducerId."""
        response = self.recorder.case(f"{self.title}: {what}", INIT_VERSION, self.init_request(producer))
        assert isinstance(response, InitProducerIdResponse)
        return response

    def add(self, what: str, producer: tuple[int, int], partition: int) -> None:
        """Record an AddPartitionsToTxn as clients send it."""
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=producer[0],
            v3_and_below_producer_epoch=producer[1],
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=self.topic, partitions=[partition])],
        )
        self.recorder.case(f"{self.title}: {what}", 3, request)

    def produce(self, what: str, producer: tuple[int, int], sequence: int, *, version: int, partition: int = 0) -> None:
        """Record a Produce of one record in the transaction."""
        self._produce(what, producer, sequence, version, {"partition": partition, "is_transactional": True})

    def produce_idempotent(self, what: str, producer: tuple[int, int], sequence: int, *, partition: int = 0) -> None:
        """Record a Produce of one record outside of the transaction."""
        self._produce(what, producer, sequence, NEW_PRODUCE, {"partition": partition, "is_transactional": False})

    def _produce(self, what: str, producer: tuple[int, int], sequence: int, version: int, sent: Sent) -> None:
        records = raw_batches.batch(
            1,
            FIRST_TIMESTAMP,
            producer_id=producer[0],
            producer_epoch=producer[1],
            base_sequence=sequence,
            is_transactional=sent["is_transactional"],
        )
        data = PartitionProduceData(index=sent["partition"], records=records)
        request = ProduceRequest(
            transactional_id=self.transactional_id if sent["is_transactional"] else None,
            acks=-1,
            timeout_ms=30_000,
            topic_data=[TopicProduceData(name=self.topic, partition_data=[data])],
        )
        self.recorder.case(f"{self.title}: {what}, v{version}", version, request)

    def end(self, what: str, producer: tuple[int, int], version: int, *, is_commit: bool = True) -> EndTxnResponse:
        """Record an EndTxn."""
        request = EndTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=producer[0],
            producer_epoch=producer[1],
            committed=is_commit,
        )
        response = self.recorder.case(f"{self.title}: {what}, v{version}", version, request)
        assert isinstance(response, EndTxnResponse)
        return response

    def offset_commit(self, producer: tuple[int, int]) -> TxnOffsetCommitRequest:
        """Return a TxnOffsetCommit of one offset."""
        offset = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=1)
        return TxnOffsetCommitRequest(
            transactional_id=self.transactional_id,
            group_id="group",
            producer_id=producer[0],
            producer_epoch=producer[1],
            topics=[TxnOffsetCommitRequestTopic(name=self.topic, partitions=[offset])],
        )

    def commit_offset(self, what: str, producer: tuple[int, int], version: int) -> None:
        """Record a TxnOffsetCommit."""
        self.recorder.case(f"{self.title}: {what}, v{version}", version, self.offset_commit(producer))

    def wait_for_group(self) -> None:
        """Return when the coordinator of the group can be used."""

        def is_ready() -> bool:
            self.recorder.call(FindCoordinatorRequest(key_type=0, coordinator_keys=["group"]), 6)
            request = HeartbeatRequest(group_id="group", generation_id=0, member_id="none")
            return self.recorder.call(request, 4, HeartbeatResponse).error_code not in NOT_READY

        self.recorder.wait(is_ready, "the group's coordinator")

    def wait_for_completion(self) -> None:
        """Return when the transaction is completed, with its markers."""

        def is_complete() -> bool:
            request = DescribeTransactionsRequest(transactional_ids=[self.transactional_id])
            response = self.recorder.call(request, 0, DescribeTransactionsResponse)
            return response.transaction_states[0].transaction_state == "CompleteCommit"

        self.recorder.wait(is_complete, "the end of the transaction")

    def producers(self, what: str) -> None:
        """Record the producers of partition 0."""
        request = DescribeProducersRequest(topics=[TopicRequest(name=self.topic, partition_indexes=[0])])
        self.recorder.case(f"{self.title}: {what}", 0, request)
