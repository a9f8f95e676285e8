"""A copy of a request and its context, which can outlive the receive buffer."""

from __future__ import annotations

from ...protocol import fetch_codec
from ...protocol.api_keys import APIS, Api, ApiKey
from ...protocol.request_facts import RequestFacts, read_request_facts
from ..requests.request_context import ConnectionInfo, Decision, RequestContext, RequestHandler
from ..runtime.deferred import Buffers, Deferred


class OwnedRequest:
    """A request with a frame of its own. It implements faults.request_view.ReceivedRequest for the fault rules."""

    def __init__(
        self, context: RequestContext, handler: RequestHandler, frame: memoryview, body_start: int, end: int
    ) -> None:
        """frame[context.request_start:end]: the request, which is copied. body_start: the position of its body."""
        start = context.request_start
        self._frame = memoryview(bytes(frame[start:end]))
        self._body_start = body_start - start
        self._handler = handler
        self.context = context.copy(request_frame_start=0)
        self.api: Api = APIS[ApiKey(context.api_key)]
        self.size = end - start
        self._facts: RequestFacts | None = None

    @property
    def connection(self) -> ConnectionInfo:
        """The connection of the request."""
        return self.context.connection

    @property
    def client_id(self) -> str | None:
        """The client id of the request header."""
        return self.context.client_id

    @property
    def api_key(self) -> int:
        """The API key."""
        return self.context.api_key

    @property
    def api_name(self) -> str:
        """Kafka's name of the API."""
        return self.api.name

    @property
    def api_version(self) -> int:
        """The API version."""
        return self.context.api_version

    @property
    def correlation_id(self) -> int:
        """The correlation id of the request header."""
        return self.context.correlation_id

    @property
    def now_ms(self) -> int:
        """The broker's time in ms when the request was received or last handled."""
        return self.context.now_ms

    @property
    def error_code(self) -> int:
        """The error code of the response as a whole."""
        return self.context.error_code

    @property
    def kept_body(self) -> bytes | None:
        """The request body, if it is kept."""
        return self.context.kept_body

    @property
    def batches(self) -> list[Decision] | None:
        """The decisions on the request's batches."""
        return self.context.batches

    @property
    def body(self) -> memoryview:
        """The bytes after the request header."""
        return self._frame[self._body_start :]

    @property
    def facts(self) -> RequestFacts:
        """The topics, partitions and batches in the body. Raises FrameError if the body does not decode.

        For an incremental Fetch these are the partitions of the request and those of its session.
        """
        if self._facts is None:
            self._facts = self._read_facts()
        return self._facts

    def _read_facts(self) -> RequestFacts:
        facts = read_request_facts(self.api, self.api_version, self.body, self.context.node.image.topic_name_of)
        if self.api.key is ApiKey.FETCH:
            asked = self._session_partitions()
            facts.partitions = tuple(dict.fromkeys(facts.partitions + asked))
            facts.topics = tuple(dict.fromkeys(facts.topics + tuple(topic for topic, _ in asked)))
        return facts

    def _session_partitions(self) -> tuple[tuple[str, int], ...]:
        request = fetch_codec.decode_request(self._frame, self._body_start, len(self._frame), self.api_version)
        asked = self.context.node.fetch_sessions.partitions_of(request.session_id)
        named: list[tuple[str, int]] = []
        for key, partition in asked:
            topic = (
                self.context.node.image.topic_name_of(key)
                if self.api_version >= fetch_codec.TOPIC_IDS_SINCE
                else key.decode()
            )
            if topic is not None:
                named.append((topic, partition))
        return tuple(named)

    def handle(self) -> Buffers | Deferred[Buffers] | None:
        """Call the request's handler and return its response. Raises FrameError."""
        self.context.now_ms = self.context.node.clock.now_ms()
        self.context.batches = None
        return self._handler.handle(self.context, self._frame, self._body_start, len(self._frame))

    def with_body(self, body: bytes) -> OwnedRequest:
        """Return a request with the same header and another body."""
        frame = memoryview(bytes(self._frame[: self._body_start]) + body)
        return OwnedRequest(self.context, self._handler, frame, self._body_start, len(frame))
