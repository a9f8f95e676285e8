"""The hand-written Fetch codec, compared with the generated messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.protocol import fetch_codec
from fauxka.protocol.frames import FrameError
from fauxka.protocol.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ReplicaState,
)
from fauxka.protocol.primitives import Reader, Writer

from .leaders import LEADERS, endpoints_of

VERSIONS = st.integers(0, 18)
NAMES = st.text(min_size=1, max_size=200)
INT8 = st.integers(-128, 127)
INT16 = st.integers(-(2**15), 2**15 - 1)
INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
IDS = st.binary(min_size=16, max_size=16)
PARTITIONS = st.builds(
    FetchPartition,
    partition=INT32,
    current_leader_epoch=INT32,
    fetch_offset=INT64,
    last_fetched_epoch=INT32,
    log_start_offset=INT64,
    partition_max_bytes=INT32,
    replica_directory_id=IDS,
    high_watermark=INT64,
)
REQUESTS = st.builds(
    FetchRequest,
    cluster_id=st.none() | NAMES,
    replica_id=INT32,
    replica_state=st.builds(ReplicaState, replica_id=INT32, replica_epoch=INT64),
    max_wait_ms=INT32,
    min_bytes=INT32,
    max_bytes=INT32,
    isolation_level=INT8,
    session_id=INT32,
    session_epoch=INT32,
    topics=st.lists(
        st.builds(FetchTopic, topic=NAMES, topic_id=IDS, partitions=st.lists(PARTITIONS, max_size=3)), max_size=3
    ),
    forgotten_topics_data=st.lists(
        st.builds(ForgottenTopic, topic=NAMES, topic_id=IDS, partitions=st.lists(INT32, max_size=3)), max_size=2
    ),
    rack_id=st.text(max_size=20),
)
ANSWERS = st.builds(
    fetch_codec.FetchedPartition,
    index=INT32,
    error_code=INT16,
    high_watermark=INT64,
    last_stable_offset=INT64,
    log_start_offset=INT64,
    aborted_transactions=st.none() | st.lists(st.tuples(INT64, INT64), max_size=2),
    records=st.lists(st.binary(min_size=1, max_size=200).map(memoryview), max_size=3),
    current_leader=st.none() | LEADERS,
    diverging_epoch=st.none() | st.tuples(INT32, INT64),
    preferred_read_replica=INT32,
)


def encoded(request: FetchRequest, version: int) -> bytes:
    writer = Writer()
    request.write(writer, version)
    return bytes(writer.buffer)


def decoded(frame: bytes, version: int) -> fetch_codec.FetchRequest:
    return fetch_codec.decode_request(memoryview(frame), 0, len(frame), version)


@given(REQUESTS, VERSIONS)
def test_request_decodes_to_the_values_of_the_generated_message(request: FetchRequest, version: int) -> None:
    by_hand = decoded(encoded(request, version), version)

    has_sessions, has_epochs = version >= 7, version >= 9
    assert by_hand == fetch_codec.FetchRequest(
        request.max_wait_ms,
        request.min_bytes,
        request.max_bytes if version >= 3 else 2**31 - 1,
        request.isolation_level if version >= 4 else 0,
        request.session_id if has_sessions else 0,
        request.session_epoch if has_sessions else -1,
        {
            (key_of(topic, version), asked.partition): fetch_codec.FetchPartition(
                asked.partition,
                asked.current_leader_epoch if has_epochs else -1,
                asked.fetch_offset,
                asked.last_fetched_epoch if version >= 12 else -1,
                asked.partition_max_bytes,
            )
            for topic in request.topics
            for asked in topic.partitions
        },
        [(key_of(topic, version), index) for topic in request.forgotten_topics_data for index in topic.partitions]
        if has_sessions
        else [],
        request.rack_id if version >= 11 else "",
        request.replica_id if version < 15 else request.replica_state.replica_id,
    )


def key_of(topic: FetchTopic | ForgottenTopic, version: int) -> bytes:
    return topic.topic_id if version >= 13 else topic.topic.encode()


@given(REQUESTS, VERSIONS, st.data())
def test_truncated_request_is_a_frame_error(request: FetchRequest, version: int, data: st.DataObject) -> None:
    frame = encoded(request, version)
    cut = data.draw(st.integers(0, len(frame) - 1))

    with pytest.raises(FrameError):
        decoded(frame[:cut], version)


@given(REQUESTS, VERSIONS, st.data())
def test_request_in_a_larger_buffer_is_not_read_beyond_its_end(
    request: FetchRequest, version: int, data: st.DataObject
) -> None:
    frame = encoded(request, version)
    end = data.draw(st.integers(0, len(frame) - 1))

    with pytest.raises(FrameError):
        fetch_codec.decode_request(memoryview(frame + bytes(64)), 0, end, version)


@given(st.binary(max_size=200), VERSIONS)
def test_any_bytes_give_a_request_or_a_frame_error(frame: bytes, version: int) -> None:
    try:
        request = decoded(frame, version)
    except FrameError:
        return

    assert len(request.partitions) + len(request.forgotten) <= len(frame)


TOPICS = st.lists(
    st.tuples(NAMES, IDS, st.lists(ANSWERS, min_size=1, max_size=3)),
    max_size=3,
    unique_by=(lambda topic: topic[0], lambda topic: topic[1]),
)


@given(TOPICS, VERSIONS, INT32, INT32)
def test_response_has_the_bytes_of_the_generated_message(
    topics: list[tuple[str, bytes, list[fetch_codec.FetchedPartition]]],
    version: int,
    correlation_id: int,
    session_id: int,
) -> None:
    for _, _, responses in topics:
        for response in responses:
            response.records_bytes = sum(map(len, response.records))
            if version < fetch_codec.CURRENT_LEADER_SINCE or response.diverging_epoch is not None:
                response.current_leader = None
    leaders = [response.current_leader for _, _, responses in topics for response in responses]
    body = Writer()
    FetchResponse(
        session_id=session_id,
        responses=[
            FetchableTopicResponse(
                topic=name, topic_id=topic_id, partitions=[generated(response) for response in responses]
            )
            for name, topic_id, responses in topics
        ],
        node_endpoints=[NodeEndpoint(**each._asdict()) for each in endpoints_of(leaders)],
    ).write(body, version)
    by_key = [
        (topic_id if version >= 13 else name.encode(), response)
        for name, topic_id, responses in topics
        for response in responses
    ]

    pieces = fetch_codec.FetchResults(by_key, session_id=session_id).encode(correlation_id, version)

    frame = b"".join(pieces)
    reader = Reader(frame)
    assert reader.int32() == len(frame) - 4
    assert reader.int32() == correlation_id
    if version >= 12:
        reader.skip_tagged_fields()
    assert frame[reader.position :] == bytes(body.buffer)


def test_records_of_a_response_are_not_copied() -> None:
    stored = memoryview(bytearray(b"records of a log"))
    response = fetch_codec.FetchedPartition(0, records=[stored], records_bytes=len(stored))

    pieces = fetch_codec.FetchResults([(b"t", response)]).encode(1, 12)

    assert any(piece is stored for piece in pieces)


def generated(response: fetch_codec.FetchedPartition) -> PartitionData:
    aborted = response.aborted_transactions
    return PartitionData(
        partition_index=response.index,
        error_code=response.error_code,
        high_watermark=response.high_watermark,
        last_stable_offset=response.last_stable_offset,
        log_start_offset=response.log_start_offset,
        aborted_transactions=None
        if aborted is None
        else [
            AbortedTransaction(producer_id=producer_id, first_offset=first_offset)
            for producer_id, first_offset in aborted
        ],
        preferred_read_replica=response.preferred_read_replica,
        records=b"".join(response.records),
        current_leader=LeaderIdAndEpoch(leader_id=leader.leader_id, leader_epoch=leader.leader_epoch)
        if (leader := response.current_leader)
        else LeaderIdAndEpoch(),
        diverging_epoch=EpochEndOffset(epoch=diverging[0], end_offset=diverging[1])
        if (diverging := response.diverging_epoch)
        else EpochEndOffset(),
    )
