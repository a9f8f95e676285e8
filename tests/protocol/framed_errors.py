"""The error responses from bytes to bytes: what is decoded and encoded around them in these tests."""

from __future__ import annotations

from dataclasses import dataclass

from fauxka.broker.dispatch import throttling
from fauxka.protocol.api_keys import Api, ApiKey
from fauxka.protocol.apis.fields import TopicNameOf
from fauxka.protocol.errors import error_responses, response_frames
from fauxka.protocol.errors.error_responses import PartSelector, SelectedParts, can_report_error, first_error_code
from fauxka.protocol.errors.response_frames import decode_response_frame, encode_response_frame
from fauxka.protocol.message import Message
from fauxka.protocol.message_fields import number_in
from fauxka.protocol.message_types import request_type
from fauxka.protocol.primitives import Reader, Writer

# The releases of the captures: the newer one was asked what the older one does not have.
CAPTURED, CAPTURED_LATER = (4, 3), (4, 4)

__all__ = ["PartSelector", "can_report_error", "first_error_code"]


def _request(api: Api, version: int, body: memoryview) -> Message:
    return request_type(api).read(Reader.of_request(body), version)


def error_response(api: Api, version: int, correlation_id: int, body: memoryview, code: int) -> bytearray:
    request = None if api.key is ApiKey.API_VERSIONS else _request(api, version, body)
    release = CAPTURED if version in api.versions.in_release(CAPTURED) else CAPTURED_LATER
    response = error_responses.error_response(api, version, request, code, release)
    return encode_response_frame(api, version, correlation_id, response)


def empty_response(api: Api, version: int, correlation_id: int) -> bytearray:
    return encode_response_frame(api, version, correlation_id, error_responses.empty_response(api))


@dataclass(frozen=True)
class FramedErrors:
    """Errors for some parts of the requests of an API version. topic_name_of: returns the name of a topic id."""

    api: Api
    version: int
    topic_name_of: TopicNameOf

    def _parts(self, request: Message, is_selected: PartSelector) -> SelectedParts:
        return SelectedParts(self.api, request, is_selected, self.topic_name_of)

    def remove_selected(self, body: memoryview, is_selected: PartSelector) -> bytes | None:
        """Return the body without the selected parts; None if nothing is left."""
        request = _request(self.api, self.version, body)
        if not self._parts(request, is_selected).remove(self.version):
            return None
        writer = Writer()
        request.write(writer, self.version)
        return writer.getvalue()

    def add_errors(self, frame: bytes | bytearray, body: memoryview, is_selected: PartSelector, code: int) -> bytearray:
        """Return the response with the errors of the selected parts of the body."""
        correlation_id, response = decode_response_frame(self.api, self.version, frame)
        self._parts(_request(self.api, self.version, body), is_selected).add_errors(response, code)
        return encode_response_frame(self.api, self.version, correlation_id, response)

    def overwrite_errors(self, frame: bytes | bytearray, is_selected: PartSelector | None, code: int) -> bytearray:
        """Return the response with another error code for the selected parts."""
        correlation_id, response = decode_response_frame(self.api, self.version, frame)
        error_responses.overwrite_errors(self.api, response, is_selected, code, self.topic_name_of)
        return encode_response_frame(self.api, self.version, correlation_id, response)


def expects_response(api: Api, version: int, body: memoryview) -> bool:
    """Whether the client waits for a response: not for a Produce with acks=0."""
    return number_in(_request(api, version, body), "acks", 1) != 0


def has_throttle_time(api: Api) -> bool:
    return response_frames.has_throttle_time(api)


def set_throttle_time(api: Api, version: int, frames: list[bytes | bytearray], throttle_time_ms: int) -> bytearray:
    correlation_id, response = decode_response_frame(api, version, b"".join(frames))
    throttling.set_throttle_time(response, throttle_time_ms)
    return encode_response_frame(api, version, correlation_id, response)
