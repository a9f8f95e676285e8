"""The answer to a request that failed, for any API and version: what an injected error says to the client.

A whole request fails as Kafka lets it fail when it cannot even look at it: error_response. What part of a request can
fail on its own stands in partial_errors, what all answers have in common in answer_frames; all three are had from here.
Source: AbstractRequest.getErrorResponse of each request, Kafka 4.3.0; every API and version is held against it byte for
byte (tests/golden/error_answers-4.3.0.jsonl).
"""

from __future__ import annotations

from collections.abc import Callable

from ..api_keys import Api, ApiKey
from ..error_codes import ErrorCode
from ..message import Message
from ..message_types import element_type, elements, number_in, request_type, response_type, text_in, topic_id_in
from ..primitives import Reader
from ..produce_codec import FLEXIBLE_SINCE
from ..topic_lists import TopicList, request_lists, response_lists
from .error_entries import NO_NODE, add_entries, new_entry, new_owner, new_partition, new_topic, set_error, set_values
from .partial_errors import PartSelector, add_errors, can_report_error, overwrite_errors, remove_selected
from .response_frames import encode_response_frame, first_error_code, has_throttle_time, set_throttle_time

__all__ = [
    "PartSelector",
    "add_errors",
    "can_report_error",
    "empty_response",
    "error_response",
    "expects_response",
    "first_error_code",
    "has_throttle_time",
    "overwrite_errors",
    "remove_selected",
    "set_throttle_time",
]

# The last version in which a failed request is answered topic by topic, where it is not all of them: later ones say it
# once, for all or for each group. -1: no version does.
_TOPICS_UNTIL = {
    ApiKey.FETCH: 12,
    ApiKey.OFFSET_FETCH: 1,
    ApiKey.ADD_PARTITIONS_TO_TXN: 3,
    ApiKey.OFFSET_DELETE: -1,
    ApiKey.DESCRIBE_QUORUM: -1,
    ApiKey.SHARE_FETCH: -1,
    ApiKey.SHARE_ACKNOWLEDGE: -1,
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: -1,
    ApiKey.ALTER_SHARE_GROUP_OFFSETS: -1,
    ApiKey.DELETE_SHARE_GROUP_OFFSETS: -1,
}

# Kafka collects what these name in maps: a partition that is named twice is answered once, a topic of none not at all.
_MERGED = frozenset({ApiKey.PRODUCE, ApiKey.WRITE_TXN_MARKERS})

# What the answer itself says besides the error, where it is not the field's default.
_ANSWER_VALUES: dict[ApiKey, dict[str, object]] = {
    ApiKey.FIND_COORDINATOR: NO_NODE,
    ApiKey.JOIN_GROUP: {"generation_id": -1},
    ApiKey.INIT_PRODUCER_ID: {"producer_id": -1, "producer_epoch": -1},
    ApiKey.DESCRIBE_CLIENT_QUOTAS: {"entries": None},
    ApiKey.CREATE_DELEGATION_TOKEN: {
        "principal_type": "User",
        "principal_name": "ANONYMOUS",
        "token_requester_principal_type": "User",
        "token_requester_principal_name": "ANONYMOUS",
        "issue_timestamp_ms": -1,
        "expiry_timestamp_ms": -1,
        "max_timestamp_ms": -1,
    },
}

# The version from which JoinGroup can say that there is no protocol.
_NULL_PROTOCOL_SINCE = 7


def expects_response(api: Api, version: int, body: memoryview) -> bool:
    """Whether the client waits for an answer: a Produce with acks=0 gets none, whatever becomes of it.

    body: what follows the request's header. Raises FrameError where it ends too early.
    """
    if api.key is not ApiKey.PRODUCE:
        return True
    reader = Reader(body)
    if version >= FLEXIBLE_SINCE:
        reader.compact_nullable_string()
    else:
        reader.nullable_string()
    return reader.int16() != 0


def empty_response(api: Api, version: int, correlation_id: int) -> bytearray:
    """Return the whole answer to a request of which nothing was left (remove_selected gave None): it names nothing."""
    return encode_response_frame(api, version, correlation_id, response_type(api)())


def error_response(api: Api, version: int, correlation_id: int, body: memoryview, code: int) -> bytearray:
    """Return the whole answer, size and response header included, to a request that failed with code as a whole.

    body: what follows the request's header. Code 0 gives the answer that all went well, of which nothing is true.
    Raises FrameError where the body does not decode.
    A Produce with acks=0 is owed none (expects_response); the one it would get is returned.
    """
    response = response_type(api)()
    if hasattr(response, "error_code"):
        set_error(api, response, "error_code", code)
    set_values(response, _ANSWER_VALUES.get(api.key, {}))
    if api.key is ApiKey.API_VERSIONS:
        _tell_served_versions(api, response, code)
    else:
        request = request_type(api).read(Reader(body), version)
        _add_parts(api, version, request, response, code)
    return encode_response_frame(api, version, correlation_id, response)


def _tell_served_versions(api: Api, response: Message, code: int) -> None:
    """Have an answer of UNSUPPORTED_VERSION tell the versions of ApiVersions itself (KIP-511)."""
    if code == ErrorCode.UNSUPPORTED_VERSION:
        entry = element_type(response, "api_keys")()
        versions: dict[str, object] = {"min_version": api.first_version, "max_version": api.last_version}
        set_values(entry, {"api_key": int(api.key), **versions})
        elements(response, "api_keys").append(entry)


def _add_parts(api: Api, version: int, request: Message, response: Message, code: int) -> None:
    if version <= _TOPICS_UNTIL.get(api.key, version):
        for asked, given in zip(request_lists(api), response_lists(api), strict=False):
            _add_topics(api, request, response, (asked, given), code)
            if api.key in _MERGED:
                _merge_topics(response, given)
    add_entries(api, request, response, code)
    match api.key:
        case ApiKey.FETCH:
            set_values(response, {"session_id": number_in(request, "session_id", 0)})
        case ApiKey.JOIN_GROUP:
            set_values(response, {"protocol_name": None if version >= _NULL_PROTOCOL_SINCE else ""})
        case ApiKey.ALTER_USER_SCRAM_CREDENTIALS:
            _add_users(api, request, response, code)
        case _:
            pass


def _add_topics(api: Api, request: Message, response: Message, lists: tuple[TopicList, TopicList], code: int) -> None:
    """Append an error entry for every topic and partition the request names, known or not."""
    asked, given = lists
    for owner in asked.owner_messages(request):
        given_owner: object = response
        if given.owners:
            given_owner = new_owner(asked, given, owner, response)
        for topic in elements(owner, asked.topics):
            entry = new_topic(asked, given, topic, given_owner)
            if asked.partitions:
                for partition in elements(topic, asked.partitions):
                    new_partition(api, given, entry, asked.partition_index(partition), code)
            else:
                set_error(api, entry, given.topic_error, code)
            if api.key is ApiKey.METADATA:
                # Before version 12 the name of a topic that was asked for by its id could not be null.
                set_values(entry, {given.name: text_in(entry, given.name)})


def _merge_topics(response: Message, given: TopicList) -> None:
    if given.owners:
        owner_key = given.owner_key
        _merge(elements(response, given.owners), given.topics, lambda owner: number_in(owner, owner_key, -1))
    for owner in given.owner_messages(response):
        topics = elements(owner, given.topics)
        _merge(topics, given.partitions, lambda topic: (text_in(topic, given.name), topic_id_in(topic, given.topic_id)))
        for topic in topics:
            _merge(elements(topic, given.partitions), "", given.partition_index)
        topics[:] = [topic for topic in topics if elements(topic, given.partitions)]


def _merge(entries: list[object], inner: str, key_of: Callable[[object], object]) -> None:
    """Keep the first of the entries with one key; it gets what the others have in their list called inner."""
    first_of: dict[object, object] = {}
    for entry in entries:
        first = first_of.setdefault(key_of(entry), entry)
        if inner and first is not entry:
            elements(first, inner).extend(elements(entry, inner))
    entries[:] = first_of.values()


def _add_users(api: Api, request: Message, response: Message, code: int) -> None:
    """Append an entry for each user, once, by name."""
    users = {text_in(each, "name") for name in ("deletions", "upsertions") for each in elements(request, name)}
    for user in sorted(users):
        set_values(new_entry(api, response, "results", code), {"user": user})
