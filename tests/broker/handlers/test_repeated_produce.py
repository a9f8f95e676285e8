"""Routes of repeated Produce requests never change a response."""

from fastcrc.crc32 import iscsi as crc32c
from hypothesis import given
from hypothesis import strategies as st

from fauxka.broker.requests.routed_produce import COPIED_BYTES_MAX
from fauxka.protocol.batches.record_batch import ATTRIBUTES_POSITION, HEADER_SIZE
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.frames import FrameError
from fauxka.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

from .produce_scene import ProduceScene, frame_of

# From the second request of a size on the shape is known, from the third on it is used.
LEARNED = 3
BYTES_BEHIND = 3
CRC_POSITION = 17


def request(records: bytes, version: int) -> bytes:
    data = PartitionProduceData(index=0, records=records)
    topics = [TopicProduceData(name="events", partition_data=[data])]
    return frame_of(ProduceRequest(acks=-1, timeout_ms=1000, topic_data=topics), version)


def batch(base_sequence: int, value: bytes, key: bytes | None) -> bytes:
    options = BatchOptions(producer_id=7, producer_epoch=0, base_sequence=base_sequence)
    return build_batch([Record(value, key)], options)


def with_right_crc(changed: bytes | bytearray) -> bytes:
    crc = crc32c(bytes(changed[ATTRIBUTES_POSITION:]))
    return bytes(changed[:CRC_POSITION]) + crc.to_bytes(4, "big") + bytes(changed[ATTRIBUTES_POSITION:])


def told(scene: ProduceScene, frame: bytes) -> bytes | str | None:
    try:
        return scene.answer(frame)
    except FrameError as error:
        return str(error)


@given(
    st.integers(9, 12),
    st.binary(max_size=200),
    st.none() | st.binary(max_size=20),
    st.lists(st.tuples(st.integers(-1000, 1000), st.integers(0, 255)), max_size=2),
    st.booleans(),
)
def test_kept_state_of_requests_never_changes_a_response(
    version: int, value: bytes, key: bytes | None, changes: list[tuple[int, int]], is_crc_mended: bool
) -> None:
    learned, fresh = ProduceScene(), ProduceScene()
    for sequence in range(LEARNED):
        frame = request(batch(sequence, value, key), version)
        assert learned.answer(frame) == fresh.answer(frame)
    changed = bytearray(request(batch(LEARNED, value, key), version))
    for position, byte in changes:
        changed[position % len(changed)] = byte
    if is_crc_mended:
        start = len(changed) - BYTES_BEHIND - len(batch(0, value, key))
        changed[start:-BYTES_BEHIND] = with_right_crc(changed[start:-BYTES_BEHIND])
    next_one = request(batch(LEARNED, value, key), version)
    fresh.forget_last_request()

    assert told(learned, bytes(changed)) == told(fresh, bytes(changed))
    fresh.forget_last_request()
    assert told(learned, next_one) == told(fresh, next_one)
    assert learned.log_end_offset == fresh.log_end_offset


def test_each_byte_around_key_and_value_counts_in_a_batch_whose_crc_is_right() -> None:
    sent = batch(LEARNED, b"value", b"key")
    for position in (*range(ATTRIBUTES_POSITION, HEADER_SIZE + 6), HEADER_SIZE + 9, len(sent) - 1):
        for byte in (0x00, 0x01, 0x10, 0x20, 0x7F, 0x80, 0xFF):
            learned, fresh = ProduceScene(), ProduceScene()
            for sequence in range(LEARNED):
                frame = request(batch(sequence, b"value", b"key"), 9)
                assert learned.answer(frame) == fresh.answer(frame)
            fresh.forget_last_request()
            changed = bytearray(sent)
            changed[position] = byte
            frame = request(with_right_crc(changed), 9)

            assert told(learned, frame) == told(fresh, frame), f"byte {position} is {byte}"
            assert learned.log_end_offset == fresh.log_end_offset


def test_requests_about_as_large_as_the_copied_ones_get_the_same_responses_as_without_a_route() -> None:
    learned, fresh = ProduceScene(), ProduceScene()
    for sequence in range(LEARNED):
        assert told(learned, request(batch(sequence, b"", None), 9)) == told(
            fresh, request(batch(sequence, b"", None), 9)
        )
    # Version, correlation id, client id and tagged fields are before the body.
    header_bytes = 2 + 2 + 4 + 2 + len("scene") + 1
    sequence, sizes = LEARNED, set[int]()
    for value_bytes in range(COPIED_BYTES_MAX - 150, COPIED_BYTES_MAX - 90):
        frame = request(batch(sequence, bytes(value_bytes), None), 9)
        sizes.add(len(frame) - header_bytes - COPIED_BYTES_MAX)
        for place in (-3, -2, -1, None):
            changed = bytearray(frame)
            if place is not None:
                changed[place] = 1
            fresh.forget_last_request()
            assert told(learned, bytes(changed)) == told(fresh, bytes(changed))
        sequence += 1
    assert sizes >= set(range(-4, 5))
    assert learned.log_end_offset == fresh.log_end_offset == sequence
