"""The way of a request: decoded once, authorized, forwarded, handled, throttled, and its response encoded once.

Rules:
- Each stage takes and returns messages. Only the first and the last know bytes.
- A request that needs no stage but its handler, and whose handler does not wait, costs no coroutine.
- A large request is decoded in a thread, and the response to it, or to one that took long, is encoded there.
- An exception of a handler is logged and answered with UNKNOWN_SERVER_ERROR. FrameError ends the connection.
- Produce and Fetch have hand-written codecs, and a Produce whose head is known has a way of its own from frame to frame
  (`handle_routed`) on a node without quotas, which the dispatcher tries first. `benchmarks` shows what they gain.
The fault injector passes a request through the same stages, and asks its rules in between.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from functools import partial
from importlib import import_module
from types import CoroutineType
from typing import TYPE_CHECKING, cast

from ...protocol.api_keys import Api, ApiKey
from ...protocol.error_codes import ErrorCode
from ...protocol.frames import FrameError
from ...protocol.message_fields import set_values
from ...protocol.message_types import request_type, response_type
from ...protocol.primitives import Reader
from .. import handlers, requests
from ..requests.encoded_response import awaited, encode_response
from ..requests.forwarding import handle_forwarded
from ..requests.request_context import LARGE_BODY_BYTES, RequestContext
from ..runtime.buffers import Buffers
from ..runtime.deferred import Deferred, WaitFailed
from ..runtime.long_work import Step, has_steps, in_steps, in_thread

if TYPE_CHECKING:
    from ...protocol.request_facts import Request
    from ..requests.encoded_response import Handle, Handled, Response
    from ..requests.request_context import HandleFrame, NodeServices
    from .throttling import Throttling

logger = logging.getLogger(__name__)

# What has to be awaited for a response.
Waiting = Coroutine[Step, object, "Response | Deferred[Response] | None"] | Deferred["Response"]
# Decodes the body in frame[position:end] of a version. None, if it has so many elements that it takes long.
DecodeAtOnce = Callable[[memoryview, int, int, int], "Request | None"]
Decode = Callable[[memoryview, int, int, int], "Request"]


class Pipeline:
    """The stages of one API on one node."""

    __slots__ = ("_decode", "_decode_at_once", "_handle", "_read_message", "api", "handle_routed", "respond")

    def __init__(self, api: Api, node: NodeServices) -> None:
        """Import the handler of the API."""
        module = import_module(f"{handlers.__name__}.{handlers.HANDLERS[api.key]}")
        self.api = api
        self._handle: Handle = module.handle
        self.handle_routed: HandleFrame | None = getattr(module, "handle_routed", None)
        self._read_message = request_type(api).read
        self._decode: Decode = getattr(module, "decode", self._read)
        self._decode_at_once: DecodeAtOnce = getattr(module, "decode_at_once", self._read_at_once)
        # Passes the stages between decoding and encoding, of which only those are there that the API needs.
        self.respond: Handle = self._forwarded if api.is_forwarded else self._handle
        if node.authorizer is not None and api.authorization.is_checked_before:
            self.respond = partial(requests.authorization.respond, api=api, handle=self.respond)

    # -- from frame to frame

    def handle(
        self, context: RequestContext, frame: memoryview, position: int, end: int
    ) -> Buffers | Deferred[Buffers] | None:
        """Handle the request whose body is frame[position:end], and return the response; None if there is none.

        The frame is the connection's receive buffer. Raises FrameError if the body does not decode.
        """
        request = self._decode_at_once(frame, position, end, context.message_version)
        if request is None:
            return self._run(context, self._handle_large(context, memoryview(bytes(frame[position:end]))))
        try:
            handled = self.respond(context, request)
        except Exception as error:
            handled = self.failure(context, error)
        if type(handled) is CoroutineType or isinstance(handled, Deferred):
            return self._run(context, self._encode_later(context, request, cast("Waiting", handled)))
        response = cast("Response | None", handled)
        context.error_code = getattr(response, "error_code", 0)
        return None if response is None else self._encode(context, request, response)

    def _encode(
        self, context: RequestContext, request: Request, response: Response
    ) -> Buffers | Deferred[Buffers] | None:
        """Encode the response, and give the journal what it keeps of it."""
        buffers = encode_response(context, response)
        observer = context.node.observer
        if observer is not None:
            kept = observer.keep_response(context, request, response, buffers)
            if has_steps(kept):
                return self._run(context, _keep_in_steps(context, kept, buffers))
            context.kept_response = kept
        return buffers

    def _run(
        self, context: RequestContext, work: Coroutine[Step, object, Buffers]
    ) -> Buffers | Deferred[Buffers] | None:
        """Run the coroutine. Without bytes there is no response (acks=0)."""
        may_pass = self.api.key is ApiKey.PRODUCE
        return context.node.long_work.run(work, context.connection, may_pass=may_pass) or None

    async def _handle_large(self, context: RequestContext, body: memoryview) -> Buffers:
        request = await in_thread(lambda: self.decode(body, context.message_version))
        return await self._encode_later(context, request, self.completed(context, request), is_large=True)

    async def _encode_later(
        self, context: RequestContext, request: Request, handled: Waiting, *, is_large: bool = False
    ) -> Buffers:
        # Later requests of the connection may have passed in the meantime.
        header = context.response_header
        try:
            response = await handled
            if isinstance(response, Deferred):
                response = await response
        except Exception as error:
            response = self.failure(context, error)
        if response is None:
            return []
        long_work = context.node.long_work
        if not long_work.has_waited:
            context.error_code = getattr(response, "error_code", 0)
        if is_large or long_work.is_interrupted:
            buffers = await in_thread(lambda: encode_response(header, response))
        else:
            buffers = encode_response(header, response)
        observer = context.node.observer
        if observer is not None and self.api.key is not ApiKey.PRODUCE:
            kept = observer.keep_response(context, request, response, buffers)
            return await _keep_in_steps(context, kept, buffers)
        return buffers

    # -- decoding

    def decode_at_once(self, body: memoryview, version: int) -> Request | None:
        """Decode the body of a request; None if it has so many elements that it takes long. Raises FrameError."""
        return self._decode_at_once(body, 0, len(body), version)

    def decode(self, body: memoryview, version: int) -> Request:
        """Decode the body of a request, however long that takes. Raises FrameError."""
        return self._decode(body, 0, len(body), version)

    def _read_at_once(self, frame: memoryview, position: int, end: int, version: int) -> Request | None:
        return None if end - position > LARGE_BODY_BYTES else self._read(frame, position, end, version)

    def _read(self, frame: memoryview, position: int, end: int, version: int) -> Request:
        return self._read_message(Reader.of_request(frame, position, end), version)

    # -- from message to message

    def throttle(self, throttling: Throttling) -> None:
        """Measure clients and throttle them from now on."""
        self.handle_routed = None
        self.respond = partial(throttling.respond, handle=self.respond)

    def _forwarded(self, context: RequestContext, request: Request) -> Handled:
        if context.node.reaches_controller:
            return self._handle(context, request)
        return handle_forwarded(context, self.api, request, self._handle)

    async def completed(self, context: RequestContext, request: Request) -> Response | None:
        """Pass the stages, and return the response when it is complete. Raises FrameError."""
        try:
            return await awaited(self.respond(context, request))
        except Exception as error:
            return self.failure(context, error)

    def failure(self, context: RequestContext, error: Exception) -> Response:
        """Return the response UNKNOWN_SERVER_ERROR to a request whose handler has raised an exception, and log that.

        Raises FrameError for a FrameError, and if the response has no top-level error code: the connection is closed.
        """
        if isinstance(error, FrameError):
            raise error
        if not isinstance(error, WaitFailed):
            logger.error("%s version %d failed", self.api.name, context.api_version, exc_info=error)
        response = response_type(self.api)()
        if not hasattr(response, "error_code"):
            raise FrameError(f"{self.api.name} failed, and its response has no error code")
        set_values(response, {"error_code": ErrorCode.UNKNOWN_SERVER_ERROR})
        return response


async def _keep_in_steps(context: RequestContext, kept: object, buffers: Buffers) -> Buffers:
    """Give the journal what it keeps of a response, and return its bytes. kept: as of RequestObserver.keep_response."""
    kept = await in_steps(kept)
    observer = context.node.observer
    if observer is None or not context.node.long_work.has_waited:
        context.kept_response = kept
    else:
        # The request is in the journal already.
        observer.responded(context.request_id, kept)
    return buffers
