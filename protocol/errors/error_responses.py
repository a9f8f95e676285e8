"""The response to a request that failed, for any API and version.

error_response is the response when the whole request fails. partial_errors has the functions for requests of which only
some topics or partitions fail, and response_frames those for any response. All are imported from here.
Source: AbstractRequest.getErrorResponse of each request, Kafka 4.3.0. Every API and version is compared byte for byte
with tests/golden/error_answers-4.3.0.jsonl.
"""

from __future__ import annotations

from collections.abc import Callable

from ..api_keys import Api, ApiKey
from ..apis.api import DEFAULT_RELEASE, Release
from ..apis.fields import TopicList
from ..error_codes import ErrorCode
from ..message import Message
from ..message_fields import elements, number_in, set_values, text_in, topic_id_in
from ..message_types import element_type, response_type
from .error_entries import add_entries, new_entry, new_owner, new_partition, new_topic, set_error
from .partial_errors import PartSelector, SelectedParts, can_report_error, overwrite_errors
from .response_frames import first_error_code, has_throttle_time

__all__ = [
    "PartSelector",
    "SelectedParts",
    "can_report_error",
    "empty_response",
    "error_response",
    "first_error_code",
    "has_throttle_time",
    "overwrite_errors",
]

# The version from which protocol_name of JoinGroup is nullable.
_NULL_PROTOCOL_SINCE = 7


def empty_response(api: Api) -> Message:
    """Return the response without entries, for a request of which SelectedParts.remove left nothing."""
    return response_type(api)()


def error_response(
    api: Api, version: int, request: Message | None, code: int, release: Release = DEFAULT_RELEASE
) -> Message:
    """Return the response to a request that failed as a whole.

    request: None for an ApiVersions of a version that does not decode. code: the error; 0 reports success.
    release: of the broker; UNSUPPORTED_VERSION for ApiVersions names the versions that it has.
    A Produce with acks=0 gets the response of another acks.
    """
    response = response_type(api)()
    if hasattr(response, "error_code"):
        set_error(api, response, "error_code", code)
    set_values(response, api.errors.response_values)
    if api.key is ApiKey.API_VERSIONS:
        _add_served_versions(api, response, code, release)
    else:
        assert request is not None, "only ApiVersions has a response without a request"
        _add_parts(api, version, request, response, code)
    return response


def _add_served_versions(api: Api, response: Message, code: int, release: Release) -> None:
    """Add the served versions of ApiVersions to a response of UNSUPPORTED_VERSION (KIP-511)."""
    if code == ErrorCode.UNSUPPORTED_VERSION:
        entry = element_type(response, "api_keys")()
        served = api.versions.in_release(release)
        versions: dict[str, object] = {"min_version": served[0], "max_version": served[-1]}
        set_values(entry, {"api_key": int(api.key), **versions})
        elements(response, "api_keys").append(entry)


def _add_parts(api: Api, version: int, request: Message, response: Message, code: int) -> None:
    if version <= api.errors.last_version_with_topics:
        for request_list, response_list in zip(api.requests, api.responses, strict=False):
            _add_topics(api, request, response, (request_list, response_list), code)
            if version <= api.errors.last_version_with_maps:
                _merge_topics(response, response_list)
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
    """Append an error entry for every topic and partition that the request names."""
    request_list, response_list = lists
    for owner in request_list.owner_messages(request):
        response_owner: object = response
        if response_list.owners:
            response_owner = new_owner(request_list, response_list, owner, response)
        for topic in elements(owner, request_list.topics):
            entry = new_topic(request_list, response_list, topic, response_owner)
            if request_list.partitions:
                for partition in elements(topic, request_list.partitions):
                    new_partition(api, response_list, entry, request_list.partition_index(partition), code)
            else:
                set_error(api, entry, response_list.topic_error, code)
            if api.key is ApiKey.METADATA:
                # The name is not nullable before version 12, and a request by topic id has none.
                set_values(entry, {response_list.name: text_in(entry, response_list.name)})


def _merge_topics(response: Message, response_list: TopicList) -> None:
    if response_list.owners:
        owner_key = response_list.owner_key
        _merge(
            elements(response, response_list.owners),
            response_list.topics,
            lambda owner: number_in(owner, owner_key, -1),
        )
    for owner in response_list.owner_messages(response):
        topics = elements(owner, response_list.topics)
        _merge(
            topics,
            response_list.partitions,
            lambda topic: (text_in(topic, response_list.name), topic_id_in(topic, response_list.topic_id)),
        )
        for topic in topics:
            _merge(elements(topic, response_list.partitions), "", response_list.partition_index)
        topics[:] = [topic for topic in topics if elements(topic, response_list.partitions)]


def _merge(entries: list[object], inner: str, key_of: Callable[[object], object]) -> None:
    """Keep the first entry of each key, and append the lists of the others to its own.

    inner: the name of the list in each entry, "" for none.
    """
    first_of: dict[object, object] = {}
    for entry in entries:
        first = first_of.setdefault(key_of(entry), entry)
        if inner and first is not entry:
            elements(first, inner).extend(elements(entry, inner))
    entries[:] = first_of.values()


def _add_users(api: Api, request: Message, response: Message, code: int) -> None:
    """Append one entry for each user, in the order of the names."""
    users = {text_in(each, "name") for name in ("deletions", "upsertions") for each in elements(request, name)}
    for user in sorted(users):
        set_values(new_entry(api, response, "results", code), {"user": user})
