"""Requests as a client encodes them, and responses as it decodes them."""

import pytest

from fauxka.protocol.api_keys import APIS, ApiKey
from fauxka.protocol.client_requests import read_response, request_frame
from fauxka.protocol.frames import FrameError
from fauxka.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from fauxka.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse

API_VERSIONS = APIS[ApiKey.API_VERSIONS]
HEARTBEAT = APIS[ApiKey.HEARTBEAT]
HEADER = b"\x00\x12\x00\x00\x00\x00\x00\x07\x00\x06fauxka"


def test_request_begins_with_its_size_and_header() -> None:
    assert request_frame(API_VERSIONS, 0, 7, ApiVersionsRequest()) == b"\x00\x00\x00\x10" + HEADER


def test_header_of_a_flexible_version_ends_with_tagged_fields() -> None:
    frame = request_frame(HEARTBEAT, 4, 7, HeartbeatRequest(group_id="g", generation_id=1, member_id="m"))

    assert frame[4 + len(HEADER) :] == b"\x00" + b"\x02g" + b"\x00\x00\x00\x01" + b"\x02m" + b"\x00" + b"\x00"


def test_response_header_of_a_flexible_version_has_tagged_fields() -> None:
    frame = b"\x00\x00\x00\x07" + b"\x00" + b"\x00\x00\x00\x05" + b"\x00\x1b" + b"\x00"

    response = read_response(HEARTBEAT, 4, 7, frame, HeartbeatResponse.read)

    assert response == HeartbeatResponse(throttle_time_ms=5, error_code=27)


def test_response_header_of_api_versions_has_no_tagged_fields() -> None:
    frame = b"\x00\x00\x00\x07" + b"\x00\x00" + b"\x01" + b"\x00\x00\x00\x00" + b"\x00"

    response = read_response(API_VERSIONS, 3, 7, frame, ApiVersionsResponse.read)

    assert response == ApiVersionsResponse()


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (b"\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00", "expected correlation id 7, got 8"),
        (
            b"\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00",
            "ApiVersions version 0: 1 bytes after the end of the response",
        ),
        (b"\x00\x00\x00\x07\x00\x00\x7f\xff\xff\xff", "2147483647"),
        (b"\x00\x00\x00", "3 left"),
        (b"", "0 left"),
    ],
)
def test_invalid_response_is_rejected(frame: bytes, reason: str) -> None:
    with pytest.raises(FrameError, match=reason):
        read_response(API_VERSIONS, 0, 7, frame, ApiVersionsResponse.read)
