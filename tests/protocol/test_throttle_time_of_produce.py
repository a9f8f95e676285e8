"""The throttle time of a Produce response is behind its partitions, and before the addresses of their leaders."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.protocol import produce_codec
from fauxka.protocol.api_keys import APIS, ApiKey
from fauxka.protocol.current_leader import CurrentLeader, NodeEndpoint
from fauxka.protocol.errors import response_frames
from fauxka.protocol.errors.response_frames import decode_response_frame, encode_response_frame, set_throttle_time
from fauxka.protocol.messages.produce import ProduceResponse
from fauxka.protocol.produce_codec import PartitionResponse

PRODUCE = APIS[ApiKey.PRODUCE]
VERSION = 12
# 256 is the number whose bytes look like the head of a tagged field.
NUMBERS = st.sampled_from([0, 1, 256, 65_536, 16_777_216])
ENDPOINTS = st.builds(
    NodeEndpoint, NUMBERS, st.text(min_size=1, max_size=5), st.integers(1, 65_535), st.none() | st.text(max_size=3)
)
LEADERS = st.none() | st.builds(CurrentLeader, NUMBERS, NUMBERS, ENDPOINTS)


def frame_of(leaders: list[CurrentLeader | None], version: int = VERSION) -> bytearray:
    partitions = [
        PartitionResponse(index, error_code=0 if leader is None else 6, current_leader=leader)
        for index, leader in enumerate(leaders)
    ]
    return produce_codec.encode_response(7, version, [(b"orders", partitions)])


@given(st.lists(LEADERS, min_size=1, max_size=5), st.integers(1, 2**31 - 1))
def test_only_the_throttle_time_changes(leaders: list[CurrentLeader | None], throttle_time_ms: int) -> None:
    frame = frame_of(leaders)
    correlation_id, response = decode_response_frame(PRODUCE, VERSION, frame)
    assert isinstance(response, ProduceResponse)
    response.throttle_time_ms = throttle_time_ms

    throttled = set_throttle_time(PRODUCE, VERSION, [frame], throttle_time_ms)

    assert throttled == encode_response_frame(PRODUCE, VERSION, correlation_id, response)


@pytest.mark.parametrize("version", range(PRODUCE.first_version, PRODUCE.last_version))
@pytest.mark.parametrize("leader", [None, CurrentLeader(1, 0, NodeEndpoint(1, "host", 9092, None))], ids=str)
def test_response_is_not_decoded_for_it(
    version: int, leader: CurrentLeader | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = frame_of([leader if version >= PRODUCE.flexible_since else None], version)
    set_throttle_time(PRODUCE, version, [frame], 5)
    monkeypatch.setattr(response_frames, "decode_response_frame", None)

    assert len(set_throttle_time(PRODUCE, version, [frame], 5)) == len(frame)
