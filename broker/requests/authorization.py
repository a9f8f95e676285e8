"""Authorizes requests before their handlers see them, if the broker has an authorizer (Kafka: KafkaApis, AuthHelper).

authorization_rules has what each request needs. What the client may not have is taken out of the request, the handler
gets the rest, and the errors are added to the response.
Source: KafkaApis and ControllerApis, Kafka 4.3.0; tests/golden/acls-4.3.0.jsonl.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar, cast

from ...protocol.api_keys import Api, ApiKey
from ...protocol.error_codes import ErrorCode
from ...protocol.error_messages import ERROR_MESSAGES
from ...protocol.errors import error_responses
from ...protocol.errors.error_entries import ENTRY_LISTS, NO_NODE, new_entry, set_values
from ...protocol.errors.response_frames import decode_response_frame, encode_response_frame, error_holders
from ...protocol.message import Message
from ...protocol.message_types import elements, number_in, request_type, text_in
from ...protocol.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from ...protocol.primitives import Reader, Writer
from ..config.config_resources import ResourceType as ConfigResourceType
from ..runtime.deferred import Buffers, Deferred, changed
from ..runtime.long_work import Steps, in_thread, when_complete
from .authorization_rules import (
    AUTHORIZED,
    ON_CONFIGS,
    DeniedEntry,
    denied_entries,
    denied_topics,
    has_entries,
    operation_on_cluster,
    request_error,
)
from .fault_ports import joined
from .request_context import LARGE_BODY_BYTES, RequestContext, RequestHandler

Result = TypeVar("Result")

# The message of the errors of entries and topics, "" for Kafka's text of the error.
_WITH_TEXT: Mapping[ApiKey, str] = {
    ApiKey.ALTER_CONFIGS: "",
    ApiKey.CREATE_TOPICS: "Authorization failed.",
    ApiKey.DESCRIBE_CONFIGS: "",
    ApiKey.DESCRIBE_PRODUCERS: "",
    ApiKey.INCREMENTAL_ALTER_CONFIGS: "",
}
# Their entries have a text with other errors only.
_WITHOUT_TEXT = frozenset({ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, ApiKey.FIND_COORDINATOR})
# Their handlers check the group or the session before the topics, and so even if no topic is permitted.
_HANDLED_WITHOUT_TOPICS = frozenset(
    {
        ApiKey.ALTER_SHARE_GROUP_OFFSETS,
        ApiKey.DELETE_SHARE_GROUP_OFFSETS,
        ApiKey.SHARE_ACKNOWLEDGE,
        ApiKey.SHARE_FETCH,
    }
)
# The error of the whole request has Kafka's text of the error, which other errors do not have.
_WHOLE_WITH_TEXT = frozenset({ApiKey.DELETE_SHARE_GROUP_STATE, ApiKey.INITIALIZE_SHARE_GROUP_STATE})
# The error of the whole request has a message that names the request and what it needs.
_NAMED = frozenset(
    {
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        ApiKey.CREATE_ACLS,
        ApiKey.DELETE_ACLS,
        ApiKey.DESCRIBE_ACLS,
        ApiKey.ELECT_LEADERS,
        ApiKey.LIST_PARTITION_REASSIGNMENTS,
        ApiKey.UNREGISTER_BROKER,
        ApiKey.UPDATE_FEATURES,
    }
)


def authorizing(api: Api, handler: RequestHandler) -> RequestHandler:
    """Return the handler with the checks of its API before it, or alone if it makes all checks itself."""
    return AuthorizingHandler(api, handler) if api.key in AUTHORIZED else handler


class AuthorizingHandler:
    """A RequestHandler that checks the ACLs of a request, and handles the part that the client is permitted."""

    __slots__ = ("_api", "_handler")

    def __init__(self, api: Api, handler: RequestHandler) -> None:
        """handler: of the API."""
        self._api = api
        self._handler = handler

    def handle(
        self, context: RequestContext, frame: memoryview, position: int, end: int
    ) -> Buffers | Deferred[Buffers] | None:
        """Check the request, and handle the permitted part. Raises FrameError."""
        steps = self._authorize(context, bytes(frame[position:end]))
        return context.node.long_work.run(steps, context.connection)

    def _authorize(self, context: RequestContext, body: bytes) -> Steps[Buffers | Deferred[Buffers]]:
        api, version = self._api, context.api_version
        is_large = len(body) > LARGE_BODY_BYTES
        request = yield from _run(partial(_decoded, api, version, body), is_large=is_large)
        error = yield from request_error(context, api, request)
        if error is not None:
            return (yield from self._refuse_whole(context, request, body, error))
        denied = yield from denied_entries(context, api, request)
        if denied:
            # What is checked and handled from here on is the rest.
            body = yield from _run(partial(_encoded, request, version), is_large=is_large)
        topics = yield from denied_topics(context, api, request)
        if api.key is ApiKey.ADD_PARTITIONS_TO_TXN and topics:
            return (yield from _run(partial(self._refuse_partitions, context, body, topics), is_large=is_large))
        rest: bytes | None = body
        if denied and not has_entries(api, request):
            rest = None
        elif topics:
            rest = yield from _run(partial(self._without_topics, context, body, topics), is_large=is_large)
        response = self._handle(context, rest)
        if not denied and not topics:
            return response
        change = partial(self._with_errors, context, body, topics, denied)
        return (yield from _changed(response, change)) if is_large else changed(response, change)

    def _refuse_whole(
        self, context: RequestContext, request: Message, body: bytes, error: ErrorCode
    ) -> Steps[Buffers | Deferred[Buffers]]:
        if isinstance(request, DescribeUserScramCredentialsRequest) and request.users is None:
            # Kafka fails while it makes the response with the error, and sends none.
            return Deferred()
        return (yield from _run(partial(self._refuse, context, body, error), is_large=len(body) > LARGE_BODY_BYTES))

    def _handle(self, context: RequestContext, rest: bytes | None) -> Buffers | Deferred[Buffers]:
        """Handle the permitted part of a request. rest: that part; None if nothing is permitted."""
        if rest is None:
            return [error_responses.empty_response(self._api, context.api_version, context.correlation_id)]
        response = self._handler.handle(context, memoryview(rest), 0, len(rest))
        assert response is not None, "only a Produce has no response"
        return response

    def _refuse(self, context: RequestContext, body: bytes, error: ErrorCode) -> Buffers:
        context.error_code = error
        refused = error_responses.error_response(
            self._api, context.api_version, context.correlation_id, memoryview(body), error
        )
        message = _message_of_refusal(self._api, error)
        if not message:
            return [refused]
        correlation_id, response = decode_response_frame(self._api, context.api_version, refused)
        for holder, _ in error_holders(response):
            if hasattr(holder, "error_message"):
                set_values(holder, {"error_message": message})
        return [encode_response_frame(self._api, context.api_version, correlation_id, response)]

    def _refuse_partitions(self, context: RequestContext, body: bytes, topics: set[str]) -> Buffers:
        """Return the response to an AddPartitionsToTxn of which some topics are denied: it is not attempted."""
        image = context.node.image
        errors: Mapping[ErrorCode, error_responses.PartSelector] = {
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: lambda name, index: (
                index is not None and not image.has_partition(name, index)
            ),
            ErrorCode.TOPIC_AUTHORIZATION_FAILED: _selector_of(topics),
        }
        (frame,) = self._refuse(context, body, ErrorCode.OPERATION_NOT_ATTEMPTED)
        for error, selector in errors.items():
            frame = error_responses.overwrite_errors(
                self._api, context.api_version, bytes(frame), selector, error, image.topic_name_of
            )
        return [frame]

    def _without_topics(self, context: RequestContext, body: bytes, topics: set[str]) -> bytes | None:
        """Return the request without the denied topics; None if nothing is left."""
        api, version, topic_name_of = self._api, context.api_version, context.node.image.topic_name_of
        rest = error_responses.remove_selected(api, version, memoryview(body), _selector_of(topics), topic_name_of)
        return _without_any_topic(api, version, body) if rest is None and api.key in _HANDLED_WITHOUT_TOPICS else rest

    def _with_errors(
        self,
        context: RequestContext,
        body: bytes,
        topics: set[str],
        denied: Sequence[DeniedEntry],
        buffers: Buffers,
    ) -> Buffers:
        """Return the response with the errors of the denied topics and entries. body: without those entries.

        A response with an error of the whole request has none of its topics.
        """
        api, version, frame = self._api, context.api_version, joined(buffers)
        if topics and not _has_failed(api, version, frame):
            error, topic_name_of = ErrorCode.TOPIC_AUTHORIZATION_FAILED, context.node.image.topic_name_of
            selector = _selector_of(topics)
            added = error_responses.add_errors(api, version, frame, memoryview(body), selector, error, topic_name_of)
            frame = bytes(_completed(context, api, added))
        return _with_entries(context, api, frame, denied) if denied else [frame]


def _run(work: Callable[[], Result], *, is_large: bool) -> Steps[Result]:
    """Return the result of the work, which runs in a thread for a large request."""
    return (yield from in_thread(work)) if is_large else work()


def _changed(response: Buffers | Deferred[Buffers], change: Callable[[Buffers], Buffers]) -> Steps[Buffers]:
    """Return what the change, in a thread, makes of the response."""
    buffers = (yield from when_complete(response)) if isinstance(response, Deferred) else response
    return (yield from in_thread(partial(change, buffers)))


def _has_failed(api: Api, version: int, frame: bytes | bytearray) -> bool:
    """Return whether the response has an error of the whole request."""
    _, response = decode_response_frame(api, version, frame)
    return number_in(response, "error_code", ErrorCode.NONE) != ErrorCode.NONE


def _selector_of(topics: set[str]) -> error_responses.PartSelector:
    return lambda name, index: name in topics


def _decoded(api: Api, version: int, body: bytes) -> Message:
    return request_type(api).read(Reader.of_request(body), version)


def _with_entries(context: RequestContext, api: Api, frame: bytes, denied: Iterable[DeniedEntry]) -> Buffers:
    """Return the response with the error entries of what was taken out of the request."""
    correlation_id, response = decode_response_frame(api, context.api_version, frame)
    for entry, error in denied:
        if api.key in ON_CONFIGS:
            field = "results" if api.key is ApiKey.DESCRIBE_CONFIGS else "responses"
            answer = new_entry(api, response, field, error)
            copied: tuple[str, ...] = ("resource_type", "resource_name")
        else:
            entry_list = ENTRY_LISTS[api.key]
            answer = new_entry(api, response, entry_list.response_field, error)
            copied = entry_list.copied
            if entry_list.key:
                set_values(answer, {entry_list.key: entry})
        if api.key is ApiKey.FIND_COORDINATOR:
            set_values(answer, NO_NODE)
        set_values(answer, {name: cast(object, getattr(entry, name)) for name in copied})
        if api.key in _WITHOUT_TEXT and error is not ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
            set_values(answer, {"error_message": cast("str | None", getattr(type(answer)(), "error_message", None))})
        else:
            set_values(answer, _message_of(api, answer, error))
    return [encode_response_frame(api, context.api_version, correlation_id, response)]


def _completed(context: RequestContext, api: Api, frame: bytearray) -> bytearray:
    """Return the response with what else the errors of denied topics have."""
    correlation_id, response = decode_response_frame(api, context.api_version, frame)
    for holder, field in error_holders(response):
        if getattr(holder, field) == ErrorCode.TOPIC_AUTHORIZATION_FAILED:
            set_values(holder, _message_of(api, holder, ErrorCode.TOPIC_AUTHORIZATION_FAILED))
            if api.key is ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS:
                set_values(holder, {"start_offset": -1})
    if api.key is ApiKey.ALTER_SHARE_GROUP_OFFSETS:
        for entry in elements(response, "responses"):
            topic = context.node.image.find_topic(text_in(entry, "topic_name"))
            set_values(entry, {} if topic is None else {"topic_id": topic.topic_id})
    return encode_response_frame(api, context.api_version, correlation_id, response)


def _message_of_refusal(api: Api, error: ErrorCode) -> str:
    """Return the message of the error of a whole request where it differs from that of other errors, else ""."""
    if api.key in _NAMED:
        return f"Request {api.name} needs {operation_on_cluster(api).name} permission."
    return ERROR_MESSAGES[error] if api.key in _WHOLE_WITH_TEXT else ""


def _message_of(api: Api, entry: object, error: ErrorCode) -> dict[str, object]:
    """Return the message of the error of an entry or topic where it differs from that of other errors."""
    is_logger = number_in(entry, "resource_type", 0) == ConfigResourceType.BROKER_LOGGER
    if api.key not in _WITH_TEXT or (is_logger and api.key is ApiKey.INCREMENTAL_ALTER_CONFIGS):
        # Kafka's broker refuses the loggers of this API, and its controller the other resources.
        return {}
    return {"error_message": _WITH_TEXT[api.key] or ERROR_MESSAGES[error]}


def _without_any_topic(api: Api, version: int, body: bytes) -> bytes:
    request = _decoded(api, version, body)
    elements(request, "topics").clear()
    return _encoded(request, version)


def _encoded(request: Message, version: int) -> bytes:
    writer = Writer()
    request.write(writer, version)
    return writer.getvalue()
