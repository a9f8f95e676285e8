"""The way of a request: decoded once, authorized, forwarded, handled, throttled, and its response encoded once.

Rules:
- Each stage takes and returns messages. Only the first and the last know bytes.
- A request that needs no stage but its handler, and whose handler does not wait, costs no coroutine.
- A large request is decoded in a thread, and the response to it, or to one that took long, is encoded there.
- An exception of a handler is logged and answered with UNKNOWN_SERVER_ERROR. FrameError ends the connection.
- Produce and Fetch have hand-written codecs, and a Produce whose head is known has a way of its own from frame to frame
  (`handle_routed`) on a node without quotas. `benchmarks` shows what they gain.
The fault injector passes a request through the same stages, and asks its rules in between.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine
from importlib import import_module
from types import CoroutineType
from typing import TYPE_CHECKING, cast

from ...protocol.api_keys import Api, ApiKey
from ...protocol.error_codes import ErrorCode
from ...protocol.frames import FrameError
from ...protocol.message_types import request_type, response_type
from ...protocol.primitives import Reader
from .. import handlers
from ..requests.encoded_response import Handle, Handled, Response, awaited, encode_response
from ..requests.forwarding import handle_forwarded
from ..requests.request_context import LARGE_BODY_BYTES, RequestContext
from ..runtime.deferred import Buffers, Deferred, WaitFailed
from ..runtime.long_work import Step, in_thread

if TYPE_CHECKING:
    from ...protocol.request_facts import Request
    from ..requests.request_context import HandleFrame, NodeServices
    from .throttling import Throttling

logger = logging.getLogger(__name__)


# Decodes the body in frame[position:end] of a version. None, if it has so many elements that it takes long.
DecodeAtOnce = Callable[[memoryview, int, int, int], "Request | None"]
Decode = Callable[[memoryview, int, int, int], "Request"]


class Pipeline:
    """The stages of one API on one node.

    throttling: measures clients and throttles them, from the first quota on.
    """

    __slots__ = (
        "_authorizes",
        "_decode",
        "_decode_at_once",
        "_handle",
        "_handle_routed",
        "_is_forwarded",
        "api",
        "throttling",
    )

    def __init__(self, api: Api, node: NodeServices) -> None:
        """Import the handler of the API."""
        module = import_module(f"{handlers.__name__}.{handlers.HANDLERS[api.key]}")
        self.api = api
        self._handle: Handle = module.handle
        self._handle_routed: HandleFrame | None = getattr(module, "handle_routed", None)
        self._decode: Decode = getattr(module, "decode", self._read)
        self._decode_at_once: DecodeAtOnce = getattr(module, "decode_at_once", self._read_at_once)
        self._is_forwarded = api.is_forwarded
        self._authorizes = node.authorizer is not None and api.authorization.is_checked_before
        self.throttling: Throttling | None = None

    # -- from frame to frame

    def handle(
        self, context: RequestContext, frame: memoryview, position: int, end: int
    ) -> Buffers | Deferred[Buffers] | None:
        """Handle the request whose body is frame[position:end], and return the response; None if there is none.

        The frame is the connection's receive buffer. Raises FrameError if the body does not decode.
        """
        if self._handle_routed is not None and self.throttling is None:
            routed = self._handle_routed(context, frame, position, end)
            if routed is not None:
                return routed
        request = self._decode_at_once(frame, position, end, context.api_version)
        if request is None:
            return self._run(context, self._handle_large(context, memoryview(bytes(frame[position:end]))))
        handled = self.respond(context, request)
        if isinstance(handled, Awaitable):
            return self._run(context, self._encode_later(context, handled))
        return None if handled is None else encode_response(context.response_header, handled)

    def _run(
        self, context: RequestContext, work: Coroutine[Step, object, Buffers]
    ) -> Buffers | Deferred[Buffers] | None:
        """Run the coroutine. Without bytes there is no response (acks=0)."""
        may_pass = self.api.key is ApiKey.PRODUCE
        return context.node.long_work.run(work, context.connection, may_pass=may_pass) or None

    async def _handle_large(self, context: RequestContext, body: memoryview) -> Buffers:
        request = await in_thread(lambda: self.decode(body, context.api_version))
        handled = self.respond(context, request)
        return await self._encode_later(context, awaited(handled), is_large=True)

    async def _encode_later(
        self, context: RequestContext, handled: Awaitable[Response | None], *, is_large: bool = False
    ) -> Buffers:
        # Later requests of the connection may have passed in the meantime.
        header = context.response_header
        response = await handled
        if response is None:
            return []
        if is_large or context.node.long_work.is_interrupted:
            return await in_thread(lambda: encode_response(header, response))
        return encode_response(header, response)

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
        return request_type(self.api).read(Reader.of_request(frame, position, end), version)

    # -- from message to message

    def respond(self, context: RequestContext, request: Request) -> Handled:
        """Pass the stages between decoding and encoding. Raises FrameError."""
        if self.throttling is not None:
            return self.throttling.respond(context, request, self._authorized)
        return self._authorized(context, request)

    def _authorized(self, context: RequestContext, request: Request) -> Handled:
        if not self._authorizes:
            return self._forwarded(context, request)
        # Lazy: most brokers have no authorizer.
        from ..requests.authorization import respond

        return respond(context, self.api, request, self._forwarded)

    def _forwarded(self, context: RequestContext, request: Request) -> Handled:
        if self._is_forwarded and not context.node.reaches_controller:
            return handle_forwarded(context, self.api, request, self._handled)
        return self._handled(context, request)

    def _handled(self, context: RequestContext, request: Request) -> Handled:
        try:
            handled = self._handle(context, request)
        except FrameError:
            raise
        except Exception:
            return self._failure(context)
        if type(handled) is CoroutineType or isinstance(handled, Deferred):
            return self._completed(context, cast("Awaitable[Response | Deferred[Response] | None]", handled))
        response = cast("Response | None", handled)
        context.error_code = getattr(response, "error_code", 0)
        return response

    async def _completed(
        self, context: RequestContext, handled: Awaitable[Response | Deferred[Response] | None]
    ) -> Response | None:
        try:
            response = await handled
            if isinstance(response, Deferred):
                response = await response
        except FrameError:
            raise
        except WaitFailed:
            response = self._error_response()
        except Exception:
            return self._failure(context)
        if not context.node.long_work.has_waited:
            context.error_code = getattr(response, "error_code", 0)
        return response

    def _failure(self, context: RequestContext) -> Response:
        """Log the exception of a handler, and return the response UNKNOWN_SERVER_ERROR. Raises FrameError."""
        logger.exception("%s version %d failed", self.api.name, context.api_version)
        context.error_code = ErrorCode.UNKNOWN_SERVER_ERROR
        return self._error_response()

    def _error_response(self) -> Response:
        """Raises FrameError if the response has no top-level error code, so that the connection is closed."""
        response = response_type(self.api)()
        if not hasattr(response, "error_code"):
            raise FrameError(f"{self.api.name} failed, and its response has no error code")
        response.error_code = ErrorCode.UNKNOWN_SERVER_ERROR
        return response
