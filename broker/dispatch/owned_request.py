"""A copy of a request and its context, which can outlive the receive buffer."""

from __future__ import annotations

from ...protocol import fetch_codec, produce_codec
from ...protocol.api_keys import APIS, Api, ApiKey
from ...protocol.frames import TooManyElements
from ...protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from ...protocol.messages.sasl_handshake import SaslHandshakeRequest
from ...protocol.primitives import Reader
from ...protocol.request_facts import RequestFacts, read_request_facts
from ..requests.request_context import (
    LARGE_BODY_BYTES,
    PRODUCE_ELEMENTS_AT_ONCE,
    RequestContext,
    RequestHandler,
)
from ..runtime.deferred import Buffers, Deferred
from ..security.principal import Principal

_OF_SASL = frozenset({ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE})


class OwnedRequest(RequestContext):
    """A request with a frame of its own. It implements faults.request_view.ReceivedRequest for the fault rules.

    body: the bytes after the request header. size: bytes of the frame.
    """

    def __init__(
        self, context: RequestContext, handler: RequestHandler, frame: memoryview, body_start: int, end: int
    ) -> None:
        """frame[context.request_start:end]: the request, which is copied. body_start: the position of its body."""
        super().__init__(context.node, context.connection)
        self.client_id = context.client_id
        self.kept_client_id = context.kept_client_id
        self.api_key = context.api_key
        self.api_version = context.api_version
        self.is_flexible = context.is_flexible
        self.correlation_id = context.correlation_id
        self.now_ms = context.now_ms
        self.kept_body = context.kept_body
        self._frame = memoryview(bytes(frame[context.request_start : end]))
        self._body_start = body_start - context.request_start
        self._handler = handler
        self.api: Api = APIS[ApiKey(context.api_key)]
        self.body = self._frame[self._body_start :]
        self.size = len(self._frame)
        self._facts: RequestFacts | None = None
        # Read before the request is handled, because the token has another meaning then.
        self._principal: str | None = None
        self.matched_ahead: dict[object, object] = {}

    @property
    def api_name(self) -> str:
        """Kafka's name of the API."""
        return self.api.name

    @property
    def is_of_sasl(self) -> bool:
        """Whether it is part of an authentication: SaslHandshake or SaslAuthenticate on a listener with SASL."""
        return self.api.key in _OF_SASL and self.connection.sasl is not None

    @property
    def mechanism(self) -> str | None:
        """The SASL mechanism of the connection, or the one that a SaslHandshake asks for. Raises FrameError."""
        if self.api.key is ApiKey.SASL_HANDSHAKE:
            return SaslHandshakeRequest.read(Reader.of_request(self.body), self.api_version).mechanism
        return self.connection.mechanism

    @property
    def principal(self) -> str:
        """Who the client is; of a SaslAuthenticate the user whom its token names. Raises FrameError."""
        if self._principal is None:
            self._principal = str(self._read_principal())
        return self._principal

    def _read_principal(self) -> Principal:
        sasl = self.connection.sasl
        if sasl is None or self.api.key is not ApiKey.SASL_AUTHENTICATE:
            return self.connection.principal
        request = SaslAuthenticateRequest.read(Reader.of_request(self.body), self.api_version)
        return sasl.claimed_principal(request.auth_bytes)

    @property
    def is_long(self) -> bool:
        """Whether decoding the body may hold the event loop. Raises FrameError if the body does not decode."""
        if len(self.body) <= LARGE_BODY_BYTES:
            return False
        if self.api.key is ApiKey.PRODUCE:
            try:
                produce_codec.decode_request(self.body, 0, len(self.body), self.api_version, PRODUCE_ELEMENTS_AT_ONCE)
            except TooManyElements:
                return True
            return False
        return True

    @property
    def facts(self) -> RequestFacts:
        """The topics, partitions and batches in the body. Raises FrameError if the body does not decode.

        For an incremental Fetch these are the partitions of the request and those of its session.
        """
        if self._facts is None:
            self._facts = self._read_facts()
        return self._facts

    def _read_facts(self) -> RequestFacts:
        facts = read_request_facts(self.api, self.api_version, self.body, self.node.image.topic_name_of)
        if self.api.key is ApiKey.FETCH:
            in_session = self._session_partitions()
            facts.partitions = tuple(dict.fromkeys(facts.partitions + in_session))
            facts.topics = tuple(dict.fromkeys(facts.topics + tuple(topic for topic, _ in in_session)))
        return facts

    def _session_partitions(self) -> tuple[tuple[str, int], ...]:
        request = fetch_codec.decode_request(self._frame, self._body_start, len(self._frame), self.api_version)
        uses_topic_ids = self.api_version >= fetch_codec.TOPIC_IDS_SINCE
        named: list[tuple[str, int]] = []
        for key, partition in self.node.fetch_sessions.partitions_of(request.session_id):
            topic = self.node.image.topic_name_of(key) if uses_topic_ids else key.decode()
            if topic is not None:
                named.append((topic, partition))
        return tuple(named)

    def handle(self) -> Buffers | Deferred[Buffers] | None:
        """Call the request's handler and return its response. Raises FrameError."""
        self.now_ms = self.node.clock.now_ms()
        self.batches = None
        return self._handler.handle(self, self._frame, self._body_start, len(self._frame))

    def with_body(self, body: bytes) -> OwnedRequest:
        """Return a request with the same header and another body."""
        frame = memoryview(bytes(self._frame[: self._body_start]) + body)
        return OwnedRequest(self, self._handler, frame, self._body_start, len(frame))
