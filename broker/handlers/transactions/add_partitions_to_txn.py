"""AddPartitionsToTxn (24), versions 0-5.

All partitions of a transaction are added, or none.
v2 PRODUCER_FENCED; v3 flexible; v4 several transactions, verify_only, transaction version 2; v5 TRANSACTION_ABORTABLE.
Versions from 4 on are for brokers. Without an authorizer any client may send them.
Source: KafkaApis.handleAddPartitionsToTxnRequest, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from ...coordinators.transaction.transaction_check import error_code_for_version
from ...requests.request_context import NodeServices, RequestContext
from ...runtime.long_work import for_each, in_turn, step

FENCED_SINCE = 2
SEVERAL_TRANSACTIONS_SINCE = 4
# From this version on clients have transaction version 2, before it 0.
NEW_CLIENT_SINCE = 4
NEW_CLIENT = 2
OLD_CLIENT = 0

# Returns the error of a partition, by topic and index.
ErrorOf = Callable[[str, int], ErrorCode]


async def handle(context: RequestContext, request: AddPartitionsToTxnRequest) -> AddPartitionsToTxnResponse:
    """Add the partitions to each transaction, or verify that they were added."""
    node, api_version = context.node, context.api_version
    if api_version >= SEVERAL_TRANSACTIONS_SINCE:
        requested = request.transactions
    else:
        requested = [
            AddPartitionsToTxnTransaction(
                transactional_id=request.v3_and_below_transactional_id,
                producer_id=request.v3_and_below_producer_id,
                producer_epoch=request.v3_and_below_producer_epoch,
                topics=request.v3_and_below_topics,
            )
        ]
    results = await in_turn(partial(_result, node, api_version=api_version), requested)
    if api_version >= SEVERAL_TRANSACTIONS_SINCE:
        return AddPartitionsToTxnResponse(results_by_transaction=results)
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results[0].topic_results)


async def _result(
    node: NodeServices, requested: AddPartitionsToTxnTransaction, *, api_version: int
) -> AddPartitionsToTxnResult:
    partitions = [(topic.name, index) for topic in requested.topics for index in topic.partitions]
    exist = await for_each(lambda partition: node.image.has_partition(*partition), partitions)
    if not all(exist):
        return await _with_error(
            requested,
            lambda topic, index: (
                ErrorCode.OPERATION_NOT_ATTEMPTED
                if node.image.has_partition(topic, index)
                else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            ),
        )
    if requested.verify_only:
        return await _with_error(requested, partial(_verify_partition, node, requested))
    client_version = NEW_CLIENT if api_version >= NEW_CLIENT_SINCE else OLD_CLIENT
    code = _add_partitions(node, requested, partitions, client_version)
    code = error_code_for_version(code, api_version, fenced_since=FENCED_SINCE)
    flush_error = await node.coordinators.transactions.flushed()
    return await _with_error(requested, lambda _topic, _index: flush_error or code)


def _add_partitions(
    node: NodeServices,
    requested: AddPartitionsToTxnTransaction,
    partitions: list[tuple[str, int]],
    client_version: int,
) -> ErrorCode:
    try:
        node.coordinators.transactions.add(
            requested.transactional_id,
            requested.producer_id,
            requested.producer_epoch,
            partitions,
            client_version=client_version,
        )
    except KafkaError as error:
        return error.code
    return ErrorCode.NONE


def _verify_partition(
    node: NodeServices, requested: AddPartitionsToTxnTransaction, topic: str, index: int
) -> ErrorCode:
    try:
        node.coordinators.transactions.verify(
            requested.transactional_id, requested.producer_id, requested.producer_epoch, [(topic, index)]
        )
    except KafkaError as error:
        return error.code
    return ErrorCode.NONE


async def _with_error(requested: AddPartitionsToTxnTransaction, error_of: ErrorOf) -> AddPartitionsToTxnResult:
    results: list[AddPartitionsToTxnTopicResult] = []
    for topic in requested.topics:
        result = AddPartitionsToTxnTopicResult(name=topic.name)
        results.append(result)
        for index in topic.partitions:
            code = error_of(topic.name, index)
            result.results_by_partition.append(
                AddPartitionsToTxnPartitionResult(partition_index=index, partition_error_code=code)
            )
            await step()
    return AddPartitionsToTxnResult(transactional_id=requested.transactional_id, topic_results=results)
