"""The hand-written Produce codec, compared with the generated messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.protocol import produce_codec, produced_records
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.frames import FrameError
from fauxka.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from fauxka.protocol.primitives import Reader, Writer

from .leaders import LEADERS, endpoints_of

VERSIONS = st.integers(0, 13)
NAMES = st.text(min_size=1, max_size=200)
INT16 = st.integers(-(2**15), 2**15 - 1)
INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
IDS = st.binary(min_size=16, max_size=16)
PARTITION_DATA = st.builds(PartitionProduceData, index=INT32, records=st.none() | st.binary(max_size=300))
TOPIC_DATA = st.builds(
    TopicProduceData,
    topic_id=IDS,
    name=NAMES,
    partition_data=st.lists(PARTITION_DATA, max_size=3, unique_by=lambda data: data.index),
)
REQUESTS = st.builds(
    ProduceRequest,
    transactional_id=st.none() | NAMES,
    acks=INT16,
    timeout_ms=INT32,
    topic_data=st.lists(TOPIC_DATA, max_size=3, unique_by=(lambda topic: topic.name, lambda topic: topic.topic_id)),
)
PARTITION_ANSWERS = st.builds(
    produce_codec.PartitionResponse,
    index=INT32,
    error_code=INT16,
    base_offset=INT64,
    log_append_time_ms=INT64,
    log_start_offset=INT64,
    error_message=st.none() | NAMES,
    record_errors=st.lists(st.tuples(INT32, st.none() | NAMES), max_size=2),
    current_leader=st.none() | LEADERS,
)


def encoded(request: ProduceRequest, version: int) -> bytes:
    writer = Writer()
    request.write(writer, version)
    return bytes(writer.buffer)


def decoded(frame: bytes, version: int) -> produce_codec.ProduceRequest:
    return produce_codec.decode_request(memoryview(frame), 0, len(frame), version)


@given(REQUESTS, VERSIONS)
def test_request_decodes_to_the_values_of_the_generated_message(request: ProduceRequest, version: int) -> None:
    by_hand = decoded(encoded(request, version), version)

    assert (by_hand.transactional_id, by_hand.acks, by_hand.timeout_ms) == (
        request.transactional_id if version >= 3 else None,
        request.acks,
        request.timeout_ms,
    )
    assert [
        (key, [(index, None if records is None else bytes(records)) for index, records in partitions])
        for key, partitions in by_hand.topics
    ] == [
        (
            topic.topic_id if version >= 13 else topic.name.encode(),
            [(data.index, data.records) for data in topic.partition_data],
        )
        for topic in request.topic_data
    ]


@given(REQUESTS, VERSIONS, st.data())
def test_truncated_request_is_a_frame_error(request: ProduceRequest, version: int, data: st.DataObject) -> None:
    frame = encoded(request, version)
    cut = data.draw(st.integers(0, len(frame) - 1))

    with pytest.raises(FrameError):
        decoded(frame[:cut], version)


@given(REQUESTS, VERSIONS, st.data())
def test_request_in_a_larger_buffer_is_not_read_beyond_its_end(
    request: ProduceRequest, version: int, data: st.DataObject
) -> None:
    frame = encoded(request, version)
    end = data.draw(st.integers(0, len(frame) - 1))

    with pytest.raises(FrameError):
        produce_codec.decode_request(memoryview(frame + bytes(64)), 0, end, version)


@given(st.binary(max_size=200), VERSIONS)
def test_any_bytes_give_a_request_or_a_frame_error(frame: bytes, version: int) -> None:
    try:
        request = decoded(frame, version)
    except FrameError:
        return

    assert sum(len(partitions) for _, partitions in request.topics) <= len(frame)


@pytest.mark.parametrize("version", [3, 9])
def test_last_records_of_a_repeated_partition_count(version: int) -> None:
    twice = [PartitionProduceData(index=0, records=b"first"), PartitionProduceData(index=0, records=b"last")]
    request = ProduceRequest(acks=1, topic_data=[TopicProduceData(name="t", partition_data=twice)])

    topics = decoded(encoded(request, version), version).topics

    assert [(key, [(index, bytes(records or b"")) for index, records in partitions]) for key, partitions in topics] == [
        (b"t", [(0, b"last")])
    ]


@given(
    st.lists(st.tuples(NAMES, IDS, st.lists(PARTITION_ANSWERS, max_size=3)), max_size=3),
    VERSIONS,
    INT32,
)
def test_response_has_the_bytes_of_the_generated_message(
    topics: list[tuple[str, bytes, list[produce_codec.PartitionResponse]]], version: int, correlation_id: int
) -> None:
    for _, _, responses in topics:
        for response in responses:
            if version < produce_codec.CURRENT_LEADER_SINCE:
                response.current_leader = None
    by_key = [(topic_id if version >= 13 else name.encode(), responses) for name, topic_id, responses in topics]
    leaders = [response.current_leader for _, _, responses in topics for response in responses]
    body = Writer()
    ProduceResponse(
        responses=[
            TopicProduceResponse(
                name=name, topic_id=topic_id, partition_responses=[generated(response) for response in responses]
            )
            for name, topic_id, responses in topics
        ],
        node_endpoints=[NodeEndpoint(**each._asdict()) for each in endpoints_of(leaders)],
    ).write(body, version)

    frame = bytes(produce_codec.encode_response(correlation_id, version, by_key))

    reader = Reader(frame)
    assert reader.int32() == len(frame) - 4
    assert reader.int32() == correlation_id
    if version >= 9:
        reader.skip_tagged_fields()
    assert frame[reader.position :] == bytes(body.buffer)


def generated(response: produce_codec.PartitionResponse) -> PartitionProduceResponse:
    return PartitionProduceResponse(
        index=response.index,
        error_code=response.error_code,
        base_offset=response.base_offset,
        log_append_time_ms=response.log_append_time_ms,
        log_start_offset=response.log_start_offset,
        error_message=response.error_message,
        record_errors=[
            BatchIndexAndErrorMessage(batch_index=batch_index, batch_index_error_message=message)
            for batch_index, message in response.record_errors
        ],
        current_leader=LeaderIdAndEpoch(leader_id=leader.leader_id, leader_epoch=leader.leader_epoch)
        if (leader := response.current_leader)
        else LeaderIdAndEpoch(),
    )


@pytest.mark.parametrize("behind", [b"", b"\1"])
def test_truncated_size_of_the_records_is_no_plain_batch(behind: bytes) -> None:
    assert produced_records.find_plain_batch(b"\xff" + behind, 0, 1 + len(behind)) == 0


@given(st.binary(max_size=4), st.sampled_from([b"", b"\0", b"\1\0\0"]), st.integers(1, 400), st.booleans())
def test_batch_after_a_known_head_is_that_of_the_decoded_request(
    behind: bytes, inside: bytes, value_bytes: int, is_transactional: bool
) -> None:
    batch = build_batch([Record(value=bytes(value_bytes))], BatchOptions(is_transactional=is_transactional))
    data = PartitionProduceData(index=0, records=inside + batch)
    frame = encoded(ProduceRequest(acks=1, topic_data=[TopicProduceData(name="t", partition_data=[data])]), 9)
    request = decoded(frame, 9)
    cut = frame[: len(frame) - len(behind)] + behind

    found = produced_records.find_plain_batch(cut, len(request.head), len(cut))

    # Of four bytes behind, the first is the last one of the batch.
    sent = b"" if inside or is_transactional else cut[-3 - len(batch) : -3]
    assert (cut[found:-3] if found else b"") == (sent if cut.endswith(bytes(3)) else b"")
    # Of a body that is not whole, the caller reads the end.
    in_part = produced_records.find_plain_batch(cut[:-3], len(request.head), len(cut))
    assert (cut[in_part:-3] if in_part else b"") == sent
