"""TxnOffsetCommit (28), versions 0-6.

v2 committed_leader_epoch; v3 flexible, generation and member; v4 TRANSACTION_ABORTABLE; v5 the broker adds the group's
partition of __consumer_offsets to the transaction (KIP-890); v6 topic ids, GROUP_ID_NOT_FOUND and STALE_MEMBER_EPOCH
(KIP-1319).
Source: KafkaApis.handleTxnOffsetCommitRequest and GroupCoordinatorService.commitTransactionalOffsets, Kafka 4.3.0;
tests/golden/golden-4.3.0.jsonl (O01 to O15, U40 to U43), offsets_by_topic_id-4.4.0.jsonl.
"""

from __future__ import annotations

from functools import partial

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from ....protocol.produced_records import TransactionalProducer
from ...coordinators.group.group import OffsetCommitter
from ...coordinators.group.offset_requests import existing_partitions, offset_to_commit
from ...coordinators.internal_topics import CoordinatorType, partition_of_key
from ...coordinators.transaction.transaction_check import TransactionCheck, is_checked, partitions_flushed
from ...metadata.metadata_image import TopicImage
from ...requests.observed_commit import observed_commit
from ...requests.request_context import RequestContext
from ...runtime.long_work import for_each, step

LOAD_IN_PROGRESS_SINCE = 2
ABORTABLE_SINCE = 4
JOINS_SINCE = 5
TOPIC_IDS_SINCE = 6


class _Results:
    """Builds the response: one entry per topic, or two if the request names it twice and all partitions exist."""

    def __init__(self) -> None:
        self._topics: dict[object, TxnOffsetCommitResponseTopic] = {}
        self._merges_topics = True

    def separate_topics(self) -> None:
        """Unless a partition was refused, return one entry for each topic entry of the request."""
        self._merges_topics = bool(self._topics)

    def add(self, topic: TxnOffsetCommitRequestTopic, partition_index: int, error_code: int) -> None:
        key = (topic.name, topic.topic_id) if self._merges_topics else id(topic)
        result = self._topics.setdefault(key, TxnOffsetCommitResponseTopic(name=topic.name, topic_id=topic.topic_id))
        result.partitions.append(
            TxnOffsetCommitResponsePartition(partition_index=partition_index, error_code=error_code)
        )

    def response(self) -> TxnOffsetCommitResponse:
        return TxnOffsetCommitResponse(topics=list(self._topics.values()))


async def handle(context: RequestContext, request: TxnOffsetCommitRequest) -> TxnOffsetCommitResponse:
    """Store the offsets of existing partitions as pending until the producer's transaction ends."""
    results, node = _Results(), context.node
    by_id = context.api_version >= TOPIC_IDS_SINCE
    unknown_topic = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    commits: list[tuple[TopicImage, TxnOffsetCommitRequestTopic, TxnOffsetCommitRequestPartition]] = []
    for topic in request.topics:
        found = node.image.find_topic_by_id(topic.topic_id) if by_id else node.image.find_topic(topic.name)
        existing = await existing_partitions(found, topic.partitions, partial(results.add, topic), unknown_topic)
        commits += [(image, topic, partition) for image, partition in existing]
    if not commits:
        return results.response()
    results.separate_topics()
    offsets = await for_each(lambda commit: offset_to_commit(commit[0], commit[2]), commits)
    producer = TransactionalProducer(request.producer_id, request.producer_epoch)
    committer = _committer_of(context, request)
    try:
        _check_transaction(context, request)
        with observed_commit(context, committer, offsets):
            error_codes = node.coordinators.groups.offsets.commit_pending(committer, offsets, producer)
    except KafkaError as error:
        error_codes = [_code_for_client(context, ErrorCode(error.code))] * len(commits)
    flushed = node.coordinators.groups.flushed()
    join_error = await partitions_flushed(node.coordinators, request.transactional_id)
    flush_error = await flushed
    if join_error:
        flush_error = ErrorCode.NOT_COORDINATOR
    for (_, topic, partition), error_code in zip(commits, error_codes, strict=True):
        results.add(topic, partition.partition_index, error_code or flush_error)
        await step()
    return results.response()


def _check_transaction(context: RequestContext, request: TxnOffsetCommitRequest) -> None:
    """Verify that the group's partition is in the transaction, or add it. Raises KafkaError.

    A partition with the producer's open transaction is not verified again.
    """
    if not request.group_id:
        raise KafkaError(ErrorCode.INVALID_GROUP_ID, "the group id is empty")
    coordinators = context.node.coordinators
    coordinators.groups.check_coordinator(request.group_id)
    partition = partition_of_key(
        context.node.controller, context.node.replicas, CoordinatorType.GROUP, request.group_id
    )
    adds_partitions = context.api_version >= JOINS_SINCE
    if not adds_partitions and not context.rules.verifies_offset_commits:
        return
    entry = partition.log.producers.find(request.producer_id)
    if entry is not None and entry.has_open_transaction(request.producer_epoch):
        return
    if not is_checked(context.node.replicas.config, adds_partitions=adds_partitions):
        return
    check = TransactionCheck(
        transactional_id=request.transactional_id,
        producer_id=request.producer_id,
        producer_epoch=request.producer_epoch,
        adds_partitions=adds_partitions,
        supports_abortable=context.api_version >= ABORTABLE_SINCE,
    )
    for error in check.find_errors(coordinators, [(partition.topic_name, partition.index)]).values():
        raise error


def _committer_of(context: RequestContext, request: TxnOffsetCommitRequest) -> OffsetCommitter:
    return OffsetCommitter(
        group_id=request.group_id,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        generation_id=request.generation_id,
        api_version=context.api_version,
        is_transactional=True,
    )


def _code_for_client(context: RequestContext, code: ErrorCode) -> ErrorCode:
    """Return the code that clients of the request's version understand, and that the release has for it."""
    if context.api_version < LOAD_IN_PROGRESS_SINCE and code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if code is ErrorCode.INVALID_PRODUCER_EPOCH and not context.rules.checks_epoch_of_offset_commits:
        return ErrorCode.UNKNOWN_SERVER_ERROR
    return code
