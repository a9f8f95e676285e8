"""The messages of Produce and Fetch for what their hand-written codecs decode and encode.

Whoever works on requests and responses of all APIs alike, such as the error responses, gets messages.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter

from . import fetch_codec, produce_codec
from .apis.fields import TopicNameOf
from .errors.partial_errors import PartSelector
from .fetch_codec import FetchedPartition, FetchRequest, FetchResults
from .message import Message
from .messages import fetch, produce
from .primitives import ZERO_UUID
from .produce_codec import PartitionResponse, ProduceRequest, ProduceResults
from .request_facts import Request

Response = Message | ProduceResults | FetchResults


def request_message(request: Request, version: int) -> Message:
    """Return the message of a request with what the error responses need: its topics and partitions."""
    if isinstance(request, ProduceRequest):
        return produce.ProduceRequest(
            transactional_id=request.transactional_id,
            acks=request.acks,
            timeout_ms=request.timeout_ms,
            topic_data=[
                produce.TopicProduceData(
                    name=_name_of(key, version, produce_codec.TOPIC_IDS_SINCE),
                    topic_id=_id_of(key, version, produce_codec.TOPIC_IDS_SINCE),
                    partition_data=[produce.PartitionProduceData(index=index) for index, _ in partitions],
                )
                for key, partitions in request.topics
            ],
        )
    if isinstance(request, FetchRequest):
        return fetch.FetchRequest(
            session_id=request.session_id,
            session_epoch=request.session_epoch,
            topics=[
                fetch.FetchTopic(
                    topic=_name_of(key, version, fetch_codec.TOPIC_IDS_SINCE),
                    topic_id=_id_of(key, version, fetch_codec.TOPIC_IDS_SINCE),
                    partitions=[fetch.FetchPartition(partition=index) for _, index in group],
                )
                for key, group in groupby(request.partitions, itemgetter(0))
            ],
        )
    return request


def without_selected(
    request: ProduceRequest | FetchRequest, version: int, is_selected: PartSelector, topic_name_of: TopicNameOf
) -> None:
    """Do to the request what SelectedParts.remove has done to its message, which had selected parts."""
    if isinstance(request, FetchRequest):
        request.max_wait_ms = 0
        return
    topics: list[tuple[bytes, list[tuple[int, memoryview | None]]]] = []
    for key, partitions in request.topics:
        name = topic_name_of(key) if version >= produce_codec.TOPIC_IDS_SINCE else key.decode(errors="replace")
        kept = [each for each in partitions if name is None or not is_selected(name, each[0])]
        if kept:
            topics.append((key, kept))
    request.topics = topics


def response_message(response: Response, version: int) -> Message:
    """Return the message of a response."""
    if isinstance(response, ProduceResults):
        return _produce_response(response, version)
    if isinstance(response, FetchResults):
        return _fetch_response(response, version)
    return response


def _produce_response(results: ProduceResults, version: int) -> produce.ProduceResponse:
    nodes = {
        leader.endpoint.node_id: produce.NodeEndpoint(**leader.endpoint._asdict())
        for _, partitions in results.topics
        for partition in partitions
        if (leader := partition.current_leader) is not None and leader.endpoint is not None
    }
    return produce.ProduceResponse(
        responses=[
            produce.TopicProduceResponse(
                name=_name_of(key, version, produce_codec.TOPIC_IDS_SINCE),
                topic_id=_id_of(key, version, produce_codec.TOPIC_IDS_SINCE),
                partition_responses=[_produced(partition) for partition in partitions],
            )
            for key, partitions in results.topics
        ],
        throttle_time_ms=results.throttle_time_ms,
        node_endpoints=list(nodes.values()),
    )


def _produced(partition: PartitionResponse) -> produce.PartitionProduceResponse:
    message = produce.PartitionProduceResponse(
        index=partition.index,
        error_code=partition.error_code,
        base_offset=partition.base_offset,
        log_append_time_ms=partition.log_append_time_ms,
        log_start_offset=partition.log_start_offset,
        record_errors=[
            produce.BatchIndexAndErrorMessage(batch_index=index, batch_index_error_message=text)
            for index, text in partition.record_errors
        ],
        error_message=partition.error_message,
    )
    leader = partition.current_leader
    if leader is not None:
        message.current_leader = produce.LeaderIdAndEpoch(leader_id=leader.leader_id, leader_epoch=leader.leader_epoch)
    return message


def _fetch_response(results: FetchResults, version: int) -> fetch.FetchResponse:
    nodes = {
        leader.endpoint.node_id: fetch.NodeEndpoint(**leader.endpoint._asdict())
        for _, partition in results.partitions
        if (leader := partition.current_leader) is not None and leader.endpoint is not None
    }
    return fetch.FetchResponse(
        throttle_time_ms=results.throttle_time_ms,
        error_code=results.error_code,
        session_id=results.session_id,
        responses=[
            fetch.FetchableTopicResponse(
                topic=_name_of(key, version, fetch_codec.TOPIC_IDS_SINCE),
                topic_id=_id_of(key, version, fetch_codec.TOPIC_IDS_SINCE),
                partitions=[_fetched(partition) for _, partition in group],
            )
            for key, group in groupby(results.partitions, itemgetter(0))
        ],
        node_endpoints=list(nodes.values()),
    )


def _fetched(partition: FetchedPartition) -> fetch.PartitionData:
    aborted = partition.aborted_transactions
    message = fetch.PartitionData(
        partition_index=partition.index,
        error_code=partition.error_code,
        high_watermark=partition.high_watermark,
        last_stable_offset=partition.last_stable_offset,
        log_start_offset=partition.log_start_offset,
        aborted_transactions=None
        if aborted is None
        else [fetch.AbortedTransaction(producer_id=id_, first_offset=offset) for id_, offset in aborted],
        preferred_read_replica=partition.preferred_read_replica,
        records=b"".join(partition.records),
    )
    leader = partition.current_leader
    if leader is not None:
        message.current_leader = fetch.LeaderIdAndEpoch(leader_id=leader.leader_id, leader_epoch=leader.leader_epoch)
    if partition.diverging_epoch is not None:
        epoch, end_offset = partition.diverging_epoch
        message.diverging_epoch = fetch.EpochEndOffset(epoch=epoch, end_offset=end_offset)
    return message


def _name_of(key: bytes, version: int, ids_since: int) -> str:
    return "" if version >= ids_since else key.decode(errors="replace")


def _id_of(key: bytes, version: int, ids_since: int) -> bytes:
    return key if version >= ids_since else ZERO_UUID
