"""What a connection on a listener with SASL may send before it has authenticated, and after (Kafka: KafkaChannel).

Rules:
- Before, nothing is handled but the requests of the exchange. Any other request gets ILLEGAL_SASL_STATE where a token
  in a SaslAuthenticate is expected, and no response elsewhere; the connection ends.
- During a further authentication the rules from before apply again.
- After, requests go to the dispatcher. A session whose lifetime is over ends with the next request, unless this begins
  another authentication.
Source: SaslServerAuthenticator.authenticate, SocketServer.processCompletedReceives, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from ...protocol.api_keys import ApiKey, api_name_of
from ...protocol.frames import FrameError, wrong_size
from ..requests.request_context import RequestContext
from ..runtime.buffers import Buffers
from ..runtime.deferred import Deferred
from ..security.sasl.exchange import SaslFailed
from ..security.sasl.sasl_session import SaslSession, Stage, answer_and_close
from .illegal_sasl_state import IllegalStateHandler

if TYPE_CHECKING:
    from ..dispatch.dispatch import Dispatcher
    from ..requests.fault_ports import Outcome

_API_AND_VERSION = Struct(">hh")
_SIZE = Struct(">i")
_EXPECTED = {
    Stage.HANDSHAKE_OR_VERSIONS: frozenset({ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE}),
    Stage.HANDSHAKE: frozenset({ApiKey.SASL_HANDSHAKE}),
    Stage.SASL_AUTHENTICATE: frozenset({ApiKey.SASL_AUTHENTICATE}),
}


class FrameLimits(NamedTuple):
    """The size of the largest frame before the client has authenticated, and after."""

    before: int
    after: int


class SaslGate:
    """Handles the frames of one connection on a listener with SASL."""

    def __init__(
        self, dispatcher: Dispatcher, session: SaslSession, limits: FrameLimits, allow_frames: Callable[[int], None]
    ) -> None:
        """allow_frames: sets the size of the largest frame, here to the limit from before the authentication."""
        self._dispatcher = dispatcher
        self._session = session
        self._limits = limits
        self._allow_frames = allow_frames
        # Not a method of the gate: the two would keep each other in memory.
        session.on_authenticated = partial(allow_frames, limits.after)
        allow_frames(limits.before)

    def handle(self, context: RequestContext, frame: memoryview, start: int, end: int) -> Outcome:
        """Handle a frame as the dispatcher does. Raises FrameError to end the connection."""
        session = self._session
        if session.stage is Stage.NOTHING:
            raise FrameError(f"re-authentication by another SASL mechanism than {session.mechanism}")
        if session.stage is Stage.BARE_TOKEN:
            return self._take_bare_token(context, bytes(frame[start:end]))
        api_key = _api_key_of(frame, start, end)
        if session.stage is Stage.AUTHENTICATED:
            self._check_session(api_key)
            return self._dispatcher.handle(context, frame, start, end)
        if api_key not in _EXPECTED.get(session.stage, ()):
            if session.stage is Stage.SASL_AUTHENTICATE:
                return self._refuse(context, frame, start, end)
            raise FrameError(f"unexpected {api_name_of(api_key)} during SASL authentication")
        return self._dispatcher.handle(context, frame, start, end)

    def _check_session(self, api_key: int) -> None:
        """Begin another authentication if the request does. Raises FrameError if the session is over."""
        if api_key == ApiKey.SASL_HANDSHAKE and self._session.begin_again():
            self._allow_frames(self._limits.before)
        elif self._session.is_expired:
            raise FrameError("the lifetime of its session is over")

    def _refuse(self, context: RequestContext, frame: memoryview, start: int, end: int) -> Outcome:
        return self._dispatcher.handle(context, frame, start, end, IllegalStateHandler(self._session).handle)

    def refuse_size(self, context: RequestContext, size: int, bytes_max: int) -> Deferred[Buffers]:
        """End the connection because of the size of a frame, as FrameHandler.refuse_size does."""
        error = wrong_size(size, bytes_max)
        if self._session.stage in (Stage.AUTHENTICATED, Stage.FAILED):
            raise error
        return self._close_later(context, self._session.refuse(str(error)))

    def _take_bare_token(self, context: RequestContext, token: bytes) -> Buffers | Deferred[Buffers]:
        # The journal has no entry of what is no request.
        context.request_id = 0
        try:
            answer = self._session.take_token(token)
        except SaslFailed as error:
            if error.is_delayed:
                return self._close_later(context, error)
            raise FrameError(f"failed authentication: {error.reason}") from error
        return [_SIZE.pack(len(answer)), answer]

    def _close_later(self, context: RequestContext, error: SaslFailed) -> Deferred[Buffers]:
        """End the connection after the delay of a failed authentication. No response has a place for the reason."""
        return answer_and_close(self._session, context.node, str(context.connection), error, [])


def _api_key_of(frame: memoryview, start: int, end: int) -> int:
    if end - start < _API_AND_VERSION.size:
        raise FrameError(f"a frame of {end - start} bytes during SASL authentication")
    api_key, _ = _API_AND_VERSION.unpack_from(frame, start)
    return int(api_key)
