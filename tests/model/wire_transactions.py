"""A transactional client over the wire that appends records or commits offsets, and ends its transactions."""

from __future__ import annotations

from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from fauxka.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from fauxka.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from fauxka.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from fauxka.protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from fauxka.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)

from ..wire.message_client import MessageClient
from .group_broker import GROUP, TOPIC, Consumer

# Before KIP-890: partitions are added by requests of their own, and the epoch stays.
INIT_VERSION, ADD_VERSION, PRODUCE_VERSION, END_VERSION, COMMIT_VERSION = 4, 3, 9, 3, 3
# As long as the broker allows, so that a transaction stays open while the clock advances.
TIMEOUT_MS = 900_000


class TransactionalClient:
    """One transactional id with its own connection."""

    def __init__(self, address: str, transactional_id: str, protocol: str) -> None:
        self._client = MessageClient(address)
        self._transactional_id = transactional_id
        self._is_member = protocol != "none"
        self._producer: tuple[int, int] | None = None
        self._sequences: dict[int, int] = {}

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def append(self, index: int, count: int) -> None:
        """Append records in a transaction."""
        producer_id, producer_epoch = self._identity()
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self._transactional_id,
            v3_and_below_producer_id=producer_id,
            v3_and_below_producer_epoch=producer_epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=TOPIC, partitions=[index])],
        )
        added = self._client.call(request, ADD_VERSION, AddPartitionsToTxnResponse)
        results = added.results_by_topic_v3_and_below[0].results_by_partition
        assert results[0].partition_error_code == ErrorCode.NONE, added
        sequence = self._sequences.get(index, 0)
        options = BatchOptions(producer_id, producer_epoch, sequence, is_transactional=True)
        records = build_batch([Record(b"v", key=b"k")] * count, options)
        self._sequences[index] = sequence + count
        topic = TopicProduceData(name=TOPIC, partition_data=[PartitionProduceData(index=index, records=records)])
        produce = ProduceRequest(
            transactional_id=self._transactional_id, acks=-1, timeout_ms=30_000, topic_data=[topic]
        )
        response = self._client.call(produce, PRODUCE_VERSION, ProduceResponse)
        assert response.responses[0].partition_responses[0].error_code == ErrorCode.NONE, response

    def commit(self, client: MessageClient, consumer: Consumer, epoch: int, offset: tuple[int, int]) -> None:
        """Commit an offset of a consumer, by its connection, in a transaction. offset: the partition and the offset."""
        producer_id, producer_epoch = self._identity()
        add = AddOffsetsToTxnRequest(
            transactional_id=self._transactional_id,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            group_id=GROUP,
        )
        added = client.call(add, ADD_VERSION, AddOffsetsToTxnResponse)
        assert added.error_code == ErrorCode.NONE, added
        partition = TxnOffsetCommitRequestPartition(partition_index=offset[0], committed_offset=offset[1])
        request = TxnOffsetCommitRequest(
            transactional_id=self._transactional_id,
            group_id=GROUP,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            generation_id=epoch,
            member_id=consumer.name if self._is_member else "",
            group_instance_id=consumer.instance,
            topics=[TxnOffsetCommitRequestTopic(name=TOPIC, partitions=[partition])],
        )
        response = client.call(request, COMMIT_VERSION, TxnOffsetCommitResponse)
        assert response.topics[0].partitions[0].error_code == ErrorCode.NONE, (response, request)

    def end(self, *, is_commit: bool) -> None:
        """End the transaction."""
        producer_id, producer_epoch = self._identity()
        request = EndTxnRequest(
            transactional_id=self._transactional_id,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            committed=is_commit,
        )
        response = self._client.call(request, END_VERSION, EndTxnResponse)
        assert response.error_code == ErrorCode.NONE, response
        # The next transaction has an epoch of its own, whose sequences begin with 0.
        self._producer = None
        self._sequences.clear()

    def _identity(self) -> tuple[int, int]:
        if self._producer is None:
            request = InitProducerIdRequest(transactional_id=self._transactional_id, transaction_timeout_ms=TIMEOUT_MS)
            response = self._client.call(request, INIT_VERSION, InitProducerIdResponse)
            assert response.error_code == ErrorCode.NONE, response
            self._producer = response.producer_id, response.producer_epoch
        return self._producer
