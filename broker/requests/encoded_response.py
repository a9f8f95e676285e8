"""What handlers return, and its one encoding."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from struct import pack_into
from typing import TYPE_CHECKING

from ...protocol.frames import FRAME_SIZE_BYTES
from ...protocol.message import Message
from ...protocol.primitives import Writer
from ..runtime.deferred import Deferred
from ..runtime.long_work import Step

if TYPE_CHECKING:
    from ...protocol.fetch_codec import FetchResults
    from ...protocol.produce_codec import ProduceResults
    from ...protocol.request_facts import Request
    from ..runtime.buffers import Buffers
    from .request_context import RequestContext, ResponseHeader

    # Two APIs have codecs of their own.
    Response = Message | ProduceResults | FetchResults
    # What a stage of the pipeline returns: a response, or what has to be awaited for it; None without one (acks=0).
    Handled = Response | Deferred[Response] | Coroutine[Step, object, Response | Deferred[Response] | None] | None
    Handle = Callable[[RequestContext, Request], Handled]


async def awaited(handled: Handled) -> Response | None:
    """Return the response of a stage, which may have to be awaited."""
    response = await handled if isinstance(handled, Coroutine) else handled
    return await response if isinstance(response, Deferred) else response


def encode_response(header: ResponseHeader | RequestContext, response: Response) -> Buffers:
    """Encode the response with its size and response header."""
    if not isinstance(response, Message):
        return response.encode(header.correlation_id, header.message_version)
    writer = Writer()
    writer.int32(0)
    writer.int32(header.correlation_id)
    if header.is_flexible:
        writer.unsigned_varint(0)
    response.write(writer, header.message_version)
    buffer = writer.buffer
    pack_into(">i", buffer, 0, len(buffer) - FRAME_SIZE_BYTES)
    return [buffer]
