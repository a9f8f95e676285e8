"""A copy of a request and its context, which can outlive the receive buffer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...faults.record_damage import FetchedRecords
from ...protocol import fetch_codec
from ...protocol.api_keys import Api, ApiKey
from ...protocol.fetch_codec import FetchRequest, FetchResults
from ...protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from ...protocol.messages.sasl_handshake import SaslHandshakeRequest
from ...protocol.request_facts import Request, RequestFacts, facts_of
from ..requests.request_context import RequestContext
from ..runtime.long_work import in_thread
from ..security.principal import Principal

if TYPE_CHECKING:
    from ..runtime.deferred import Deferred
    from .pipeline import Pipeline

_OF_SASL = frozenset({ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE})


class OwnedRequest(RequestContext):
    """A request with a frame of its own. It implements faults.request_view.ReceivedRequest for the fault rules.

    message: the decoded request, after decode. is_long: it was decoded in a thread, or took more than a slice.
    result: what completes with its response, once it waits. fetched: see note_response.
    """

    def __init__(
        self, context: RequestContext, pipeline: Pipeline, frame: memoryview, body_start: int, end: int
    ) -> None:
        """frame[context.request_start:end]: the request, which is copied. body_start: the position of its body."""
        super().__init__(context.node, context.connection)
        self.client_id = context.client_id
        self.kept_client_id = context.kept_client_id
        self.api_key = context.api_key
        self.api_version = context.api_version
        self.message_version = context.message_version
        self.is_flexible = context.is_flexible
        self.correlation_id = context.correlation_id
        self.now_ms = context.now_ms
        self.kept_body = context.kept_body
        self.arrived_ns = context.arrived_ns
        self.size = context.size
        self.pipeline = pipeline
        self.api: Api = pipeline.api
        self.is_long = False
        self.result: Deferred[object] | None = None
        self._body = memoryview(bytes(frame[body_start:end]))
        self._message: Request | None = None
        self._facts: RequestFacts | None = None
        # Read before the request is handled, because the token has another meaning then.
        self._principal: str | None = None
        self.matched_ahead: dict[object, object] = {}
        self.fetched: Sequence[FetchedRecords] = ()

    async def decode(self) -> None:
        """Decode the request, in a thread if that takes long. Raises FrameError."""
        self._message = self.pipeline.decode_at_once(self._body, self.message_version)
        if self._message is None:
            self.is_long = True
            self._message = await in_thread(lambda: self.pipeline.decode(self._body, self.message_version))

    @property
    def message(self) -> Request:
        """The decoded request."""
        assert self._message is not None, "it is decoded first"
        return self._message

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
        """The SASL mechanism of the connection, or the one that a SaslHandshake asks for."""
        if isinstance(self.message, SaslHandshakeRequest):
            return self.message.mechanism
        return self.connection.mechanism

    @property
    def principal(self) -> str:
        """Who the client is; of a SaslAuthenticate the user whom its token names."""
        if self._principal is None:
            self._principal = str(self._find_principal())
        return self._principal

    def _find_principal(self) -> Principal:
        sasl = self.connection.sasl
        if sasl is None or not isinstance(self.message, SaslAuthenticateRequest):
            return self.connection.principal
        return sasl.claimed_principal(self.message.auth_bytes)

    @property
    def facts(self) -> RequestFacts:
        """The topics, partitions and batches in the request. Raises FrameError if a name does not decode.

        For an incremental Fetch these are the partitions of the request and those of its session.
        """
        if self._facts is None:
            self._facts = self._find_facts()
        return self._facts

    def _find_facts(self) -> RequestFacts:
        facts = facts_of(self.api, self.api_version, self.message, self.node.image.topic_name_of)
        if isinstance(self.message, FetchRequest):
            in_session = self._session_partitions(self.message)
            facts.partitions = tuple(dict.fromkeys(facts.partitions + in_session))
            facts.topics = tuple(dict.fromkeys(facts.topics + tuple(topic for topic, _ in in_session)))
        return facts

    def _session_partitions(self, request: FetchRequest) -> tuple[tuple[str, int], ...]:
        uses_topic_ids = self.api_version >= fetch_codec.TOPIC_IDS_SINCE
        named: list[tuple[str, int]] = []
        for key, partition in self.node.fetch_sessions.partitions_of(request.session_id):
            topic = self.node.image.topic_name_of(key) if uses_topic_ids else key.decode()
            if topic is not None:
                named.append((topic, partition))
        return tuple(named)

    def note_response(self, response: object) -> None:
        """Have rules match with the response of the handler."""
        if isinstance(response, FetchResults):
            uses_topic_ids, name_of = self.api_version >= fetch_codec.TOPIC_IDS_SINCE, self.node.image.topic_name_of
            self.fetched = [
                FetchedRecords((name_of(key) or "") if uses_topic_ids else key.decode(), fetched.index, fetched)
                for key, fetched in response.partitions
            ]

    def part_was_refused(self) -> None:
        """Match rules with what is left of the request from now on."""
        self._facts = None
        self.matched_ahead = {}

    def take_id(self, request_id: int) -> None:
        """Set the id of the request in the journal."""
        self.request_id = request_id
        if self.result is not None:
            self.result.request_id = request_id
