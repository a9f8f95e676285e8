"""Authorizes requests before their handlers see them, if the broker has an authorizer (Kafka: KafkaApis, AuthHelper).

authorization_rules has what each request needs. What the client may not have is taken out of the request, the handler
gets the rest, and the errors are added to the response.
Source: KafkaApis and ControllerApis, Kafka 4.3.0; tests/golden/acls-4.3.0.jsonl.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar, cast

from ...protocol.api_keys import Api, ApiKey
from ...protocol.apis.authorization import KAFKAS_TEXT, NAMED_REQUEST
from ...protocol.apis.fields import NO_NODE
from ...protocol.error_codes import ErrorCode
from ...protocol.error_messages import ERROR_MESSAGES
from ...protocol.errors.error_entries import new_entry
from ...protocol.errors.error_responses import empty_response, error_response
from ...protocol.errors.partial_errors import PartSelector, SelectedParts, overwrite_errors
from ...protocol.errors.response_frames import error_holders
from ...protocol.message import Message
from ...protocol.message_fields import elements, number_in, set_values, text_in
from ...protocol.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from ..config.config_resources import ResourceType as ConfigResourceType
from ..runtime.deferred import Deferred
from ..runtime.long_work import in_thread
from .authorization_rules import (
    DeniedEntry,
    denied_entries,
    denied_topics,
    has_entries,
    operation_on_cluster,
    request_error,
)
from .encoded_response import awaited
from .request_context import LARGE_BODY_BYTES, RequestContext

if TYPE_CHECKING:
    from ...protocol.request_facts import Request
    from .encoded_response import Handle, Response

Result = TypeVar("Result")


async def respond(context: RequestContext, request: Request, *, api: Api, handle: Handle) -> Response | None:
    """Check the request, handle the part that the client is permitted, and add the errors of the rest."""
    message = cast(Message, request)
    is_large = context.size > LARGE_BODY_BYTES
    error = await request_error(context, api, message)
    if error is not None:
        if isinstance(request, DescribeUserScramCredentialsRequest) and request.users is None:
            # Kafka fails while it makes the response with the error, and sends none.
            return await Deferred[Message](lambda: None)
        return await _run(partial(_refused, context, api, message, error), is_large=is_large)
    denied = await denied_entries(context, api, message)
    topics = await denied_topics(context, api, message)
    if api.key is ApiKey.ADD_PARTITIONS_TO_TXN and topics:
        return await _run(partial(_partitions_refused, context, api, message, topics), is_large=is_large)
    parts: SelectedParts | None = None
    is_left = not denied or has_entries(api, message)
    if is_left and topics:
        parts = await _run(partial(_select, context, api, message, topics), is_large=is_large)
        has_more = await _run(partial(parts.remove, context.api_version), is_large=is_large)
        is_left = has_more or api.authorization.is_handled_without_topics
    response = await awaited(handle(context, request)) if is_left else empty_response(api)
    assert isinstance(response, Message), "Produce and Fetch check themselves"
    add = partial(_add_errors, context, api, response, parts, denied)
    return await _run(add, is_large=is_large) if denied or topics else response


def _select(context: RequestContext, api: Api, request: Message, topics: set[str]) -> SelectedParts:
    return SelectedParts(api, request, _selector_of(topics), context.node.image.topic_name_of)


def _refused(context: RequestContext, api: Api, request: Message, error: ErrorCode) -> Message:
    context.error_code = error
    response = error_response(api, context.api_version, request, error)
    message = _message_of_refusal(api, error)
    if message:
        for holder, _ in error_holders(response):
            if hasattr(holder, "error_message"):
                set_values(holder, {"error_message": message})
    return response


def _partitions_refused(context: RequestContext, api: Api, request: Message, topics: set[str]) -> Message:
    """Return the response to an AddPartitionsToTxn of which some topics are denied: it is not attempted."""
    image = context.node.image
    errors: Mapping[ErrorCode, PartSelector] = {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: lambda name, index: (
            index is not None and not image.has_partition(name, index)
        ),
        ErrorCode.TOPIC_AUTHORIZATION_FAILED: _selector_of(topics),
    }
    response = _refused(context, api, request, ErrorCode.OPERATION_NOT_ATTEMPTED)
    for error, selector in errors.items():
        overwrite_errors(api, response, selector, error, image.topic_name_of)
    return response


def _add_errors(
    context: RequestContext,
    api: Api,
    response: Message,
    parts: SelectedParts | None,
    denied: Sequence[DeniedEntry],
) -> Message:
    """Return the response with the errors of the denied topics and entries.

    A response with an error of the whole request has none of its topics.
    """
    if parts is not None and number_in(response, "error_code", ErrorCode.NONE) == ErrorCode.NONE:
        parts.add_errors(response, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        _complete(context, api, response)
    _add_entries(api, response, denied)
    return response


async def _run(work: Callable[[], Result], *, is_large: bool) -> Result:
    """Return the result of the work, which runs in a thread for a large request."""
    return await in_thread(work) if is_large else work()


def _selector_of(topics: set[str]) -> PartSelector:
    return lambda name, index: name in topics


def _add_entries(api: Api, response: Message, denied: Iterable[DeniedEntry]) -> None:
    """Add the error entries of what was taken out of the request."""
    for entry, error in denied:
        if api.authorization.configs is not None:
            field = "results" if api.key is ApiKey.DESCRIBE_CONFIGS else "responses"
            answer = new_entry(api, response, field, error)
            copied: tuple[str, ...] = ("resource_type", "resource_name")
        else:
            entry_list = api.entries
            assert entry_list is not None, "the entries are checked"
            answer = new_entry(api, response, entry_list.response_field, error)
            copied = entry_list.copied
            if entry_list.key:
                set_values(answer, {entry_list.key: entry})
        if api.key is ApiKey.FIND_COORDINATOR:
            set_values(answer, NO_NODE)
        set_values(answer, {name: cast(object, getattr(entry, name)) for name in copied})
        if not api.authorization.entries_have_text and error is not ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
            set_values(answer, {"error_message": cast("str | None", getattr(type(answer)(), "error_message", None))})
        else:
            set_values(answer, _message_of(api, answer, error))


def _complete(context: RequestContext, api: Api, response: Message) -> None:
    """Set what else the errors of denied topics have."""
    for holder, field in error_holders(response):
        if getattr(holder, field) == ErrorCode.TOPIC_AUTHORIZATION_FAILED:
            set_values(holder, _message_of(api, holder, ErrorCode.TOPIC_AUTHORIZATION_FAILED))
            if api.key is ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS:
                set_values(holder, {"start_offset": -1})
    if api.key is ApiKey.ALTER_SHARE_GROUP_OFFSETS:
        for entry in elements(response, "responses"):
            topic = context.node.image.find_topic(text_in(entry, "topic_name"))
            set_values(entry, {} if topic is None else {"topic_id": topic.topic_id})


def _message_of_refusal(api: Api, error: ErrorCode) -> str:
    """Return the message of the error of a whole request where it differs from that of other errors, else ""."""
    if api.authorization.whole_text == NAMED_REQUEST:
        return f"Request {api.name} needs {operation_on_cluster(api).name} permission."
    return ERROR_MESSAGES[error] if api.authorization.whole_text else ""


def _message_of(api: Api, entry: object, error: ErrorCode) -> dict[str, object]:
    """Return the message of the error of an entry or topic where it differs from that of other errors."""
    is_logger = number_in(entry, "resource_type", 0) == ConfigResourceType.BROKER_LOGGER
    text = api.authorization.part_text
    if not text or (is_logger and api.key is ApiKey.INCREMENTAL_ALTER_CONFIGS):
        # Kafka's broker refuses the loggers of this API, and its controller the other resources.
        return {}
    return {"error_message": ERROR_MESSAGES[error] if text == KAFKAS_TEXT else text}
