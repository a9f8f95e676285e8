"""Makes the details of a request: from messages, or from what the journal has kept of it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import structs

from ....protocol import fetch_codec
from ....protocol.api_keys import APIS, Api, ApiKey
from ....protocol.apis.fields import TopicNameOf
from ....protocol.codec_messages import Response, request_message, response_message
from ....protocol.errors.error_places import find_errors
from ....protocol.errors.response_frames import decode_response_frame
from ....protocol.frames import FrameError
from ....protocol.message import Message
from ....protocol.message_types import request_type
from ....protocol.primitives import Reader
from ....protocol.request_facts import Request, facts_of
from .exchange import Exchange, text_or_none
from .fetches import fetch_details, fetch_errors
from .group_offsets import offsets_details
from .kept_fetch import KeptFetch
from .listed_offsets import list_offsets_details
from .members import member_details
from .models import RequestDetails
from .response_errors import ResponseErrors
from .shares import share_details

if TYPE_CHECKING:
    from ...request_view import RequestView
    from ..journal_record import JournalRecord

NO_DETAILS = RequestDetails()
_OFFSET_APIS = frozenset({ApiKey.OFFSET_COMMIT, ApiKey.TXN_OFFSET_COMMIT, ApiKey.OFFSET_FETCH})
_SHARE_APIS = frozenset({ApiKey.SHARE_FETCH, ApiKey.SHARE_ACKNOWLEDGE})
_MEMBER_APIS = frozenset(
    {
        ApiKey.JOIN_GROUP,
        ApiKey.SYNC_GROUP,
        ApiKey.HEARTBEAT,
        ApiKey.LEAVE_GROUP,
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        ApiKey.SHARE_GROUP_HEARTBEAT,
        ApiKey.STREAMS_GROUP_HEARTBEAT,
    }
)


@dataclass(frozen=True, slots=True)
class _Version:
    """An API in a version. topic_name_of: as in Exchange."""

    api: Api
    number: int
    topic_name_of: TopicNameOf


def read_details(record: JournalRecord, topic_name_of: TopicNameOf) -> RequestDetails:
    """Return the details of a request in the journal. topic_name_of: returns the name of a topic id."""
    kept = record.answer.kept
    if isinstance(kept, RequestDetails):
        return kept
    api = APIS.get(record.api_key)
    if api is None or api.key is ApiKey.PRODUCE:
        return NO_DETAILS
    version = _Version(api, record.api_version, topic_name_of)
    if api.key is ApiKey.FETCH:
        return _of_fetch(version, record.body, KeptFetch(*kept) if isinstance(kept, tuple) else None)
    request = None if record.body is None else _read_request(version, record.body)
    response = _read_response(version, kept) if isinstance(kept, bytes) else None
    errors = ResponseErrors(topic_name_of)
    for found in () if response is None else find_errors(api, response):
        if found is not None:
            errors.add(found)
    return _details(version, Exchange(api, request, response, topic_name_of), errors)


def reduce_exchange(
    context: RequestView, request: Request, response: Response, topic_name_of: TopicNameOf
) -> Generator[None, None, RequestDetails]:
    """Return the details of a request whose bytes are not kept, after steps."""
    version = _Version(APIS[context.api_key], context.api_version, topic_name_of)
    asked, answered = request_message(request, version.number), response_message(response, version.number)
    errors = ResponseErrors(topic_name_of)
    for found in find_errors(version.api, answered):
        if found is None:
            yield
        else:
            errors.add(found)
    yield
    return _details(version, Exchange(version.api, asked, answered, topic_name_of), errors)


def _of_fetch(version: _Version, body: bytes | None, kept: KeptFetch | None) -> RequestDetails:
    try:
        request = None if body is None else fetch_codec.decode_request(memoryview(body), 0, len(body), version.number)
    except FrameError:
        request = None
    errors = ResponseErrors(version.topic_name_of)
    for place in () if kept is None else fetch_errors(kept, version.number, version.topic_name_of):
        errors.add_place(place)
    return RequestDetails(
        fetch=fetch_details(kept, request, version.number, version.topic_name_of),
        first_error=errors.first_error(None, None),
        more_errors=errors.more,
        errors=frozenset(errors.names),
    )


def _details(version: _Version, exchange: Exchange, errors: ResponseErrors) -> RequestDetails:
    request = exchange.request
    named = (
        None
        if request is None or errors.first is None
        else facts_of(version.api, version.number, request, version.topic_name_of)
    )
    of_errors = RequestDetails(
        first_error=errors.first_error(named, text_or_none(request, "member_id")),
        more_errors=errors.more,
        errors=frozenset(errors.names),
    )
    key = version.api.key
    if request is None or version.api.has_secrets:
        return of_errors
    if key is ApiKey.LIST_OFFSETS:
        return structs.replace(of_errors, list_offsets=list_offsets_details(exchange))
    if key in _OFFSET_APIS:
        return structs.replace(of_errors, offsets=offsets_details(exchange))
    if key in _MEMBER_APIS:
        return structs.replace(of_errors, member=member_details(exchange))
    if key in _SHARE_APIS:
        return structs.replace(of_errors, share=share_details(exchange))
    return of_errors


def _read_request(version: _Version, body: bytes) -> Message | None:
    """Decode a request; None if its body does not decode."""
    try:
        return request_type(version.api).read(Reader.of_request(body), version.number)
    except FrameError:
        return None


def _read_response(version: _Version, frame: bytes) -> Message | None:
    try:
        return decode_response_frame(version.api, version.number, frame)[1]
    except FrameError:
        return None
