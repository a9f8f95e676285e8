"""AddPartitionsToTxn (24), versions 0-5.

All partitions of a transaction are added, or none.
v2 PRODUCER_FENCED; v3 flexible; v4 several transactions, verify_only, transaction version 2; v5 TRANSACTION_ABORTABLE.
Versions from 4 on are for brokers. Without an authorizer any client may send them.
Source: KafkaApis.handleAddPartitionsToTxnRequest, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from ...coordinators.transaction.transaction_check import error_code_for_version
from ...requests.request_context import ApiHandler, NodeServices, RequestContext
from ...runtime.deferred import Deferred

FENCED_SINCE = 2
SEVERAL_TRANSACTIONS_SINCE = 4
# From this version on clients have transaction version 2, before it 0.
NEW_CLIENT_SINCE = 4
NEW_CLIENT = 2
OLD_CLIENT = 0

# Returns the error of a partition, by topic and index.
ErrorOf = Callable[[str, int], ErrorCode]


def handle(
    context: RequestContext, request: AddPartitionsToTxnRequest
) -> AddPartitionsToTxnResponse | Deferred[AddPartitionsToTxnResponse]:
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
    response = _response(api_version, [_result(node, each, api_version) for each in requested])

    def error_response(code: ErrorCode) -> AddPartitionsToTxnResponse:
        results = [_with_error(each, lambda _topic, _index: code) for each in requested]
        return _response(api_version, results)

    return node.coordinators.transactions.when_durable(response, error_response)


def _response(api_version: int, results: list[AddPartitionsToTxnResult]) -> AddPartitionsToTxnResponse:
    if api_version >= SEVERAL_TRANSACTIONS_SINCE:
        return AddPartitionsToTxnResponse(results_by_transaction=results)
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results[0].topic_results)


def _result(node: NodeServices, requested: AddPartitionsToTxnTransaction, api_version: int) -> AddPartitionsToTxnResult:
    if any(not node.image.has_partition(topic.name, index) for topic in requested.topics for index in topic.partitions):
        return _with_error(
            requested,
            lambda topic, index: (
                ErrorCode.OPERATION_NOT_ATTEMPTED
                if node.image.has_partition(topic, index)
                else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            ),
        )
    if requested.verify_only:
        return _with_error(requested, lambda topic, index: _verify_partition(node, requested, topic, index))
    code = _add_partitions(node, requested, NEW_CLIENT if api_version >= NEW_CLIENT_SINCE else OLD_CLIENT)
    code = error_code_for_version(code, api_version, fenced_since=FENCED_SINCE)
    return _with_error(requested, lambda _topic, _index: code)


def _add_partitions(node: NodeServices, requested: AddPartitionsToTxnTransaction, client_version: int) -> ErrorCode:
    partitions = [(topic.name, index) for topic in requested.topics for index in topic.partitions]
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


def _with_error(requested: AddPartitionsToTxnTransaction, error_of: ErrorOf) -> AddPartitionsToTxnResult:
    return AddPartitionsToTxnResult(
        transactional_id=requested.transactional_id,
        topic_results=[_topic_result(topic, error_of) for topic in requested.topics],
    )


def _topic_result(topic: AddPartitionsToTxnTopic, error_of: ErrorOf) -> AddPartitionsToTxnTopicResult:
    return AddPartitionsToTxnTopicResult(
        name=topic.name,
        results_by_partition=[
            AddPartitionsToTxnPartitionResult(partition_index=index, partition_error_code=error_of(topic.name, index))
            for index in topic.partitions
        ],
    )


HANDLER = ApiHandler(AddPartitionsToTxnRequest.read, handle)
