"""Checks that a request can have all fields of a match: otherwise the rule would never meet its point."""

from __future__ import annotations

from functools import lru_cache
from typing import cast, get_args, get_type_hints

import msgspec

from ...protocol.api_keys import APIS, Api, ApiKey
from ...protocol.message import Message
from ...protocol.message_types import request_type
from ...protocol.similar_names import suggestion
from ..rule_error import RuleError
from .match import Match
from .value_tests import compile_test

_APIS_BY_NAME = {api.name: api for api in APIS.values()}
# A response to an unsupported version tells the client which ones are supported, or that it has to authenticate.
_HANDLED_IN_ANY_VERSION = (ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE)
_PRODUCE_ONLY = ("base_sequence", "record_count", "key", "header")
# The request fields, at any depth, that a match field is compared with.
_HOLDERS = {
    "group_id": {"group_id", "groups", "groups_names", "group_ids", "coordinator_keys", "resource_type"},
    "transactional_id": {"transactional_id", "transactional_ids", "coordinator_keys"},
    "producer_id": {"producer_id"},
    "producer_epoch": {"producer_epoch"},
}


def apis_of(match: Match) -> list[Api]:
    """Return the APIs of a valid match; [] for any API."""
    return [_APIS_BY_NAME[name] for name in _names_of(match)]


def check_apis(match: Match) -> None:
    """Raise RuleError for an API that is not served, and for fields that no request of the APIs has together."""
    for index, name in enumerate(_names_of(match)):
        if name not in _APIS_BY_NAME:
            raise _unknown_api(f"match.api[{index}]" if isinstance(match.api, list) else "match.api", name)
    apis = apis_of(match)
    if not apis and any(getattr(match, field) is not None for field in _PRODUCE_ONLY):
        apis = [APIS[ApiKey.PRODUCE]]
    if not apis:
        # Each other combination of fields is that of an API.
        return
    given: list[str] = []
    for field in (*_HOLDERS, "topic", "partition", *_PRODUCE_ONLY):
        if getattr(match, field) is not None:
            able = [api for api in apis if _can_name(api, field)]
            if not able:
                raise _unmatched(match, field, apis, given)
            apis = able
            given.append(field)
    _check_version(match, apis)


def _names_of(match: Match) -> list[str]:
    return match.api if isinstance(match.api, list) else [match.api] if match.api is not None else []


def _unmatched(match: Match, field: str, apis: list[Api], given: list[str]) -> RuleError:
    """Return the error for a field that requests with the given ones do not have."""
    allowed = "no value, or another match.api"
    names = " or ".join(api.name for api in apis)
    condition = f" with a {' and a '.join(given)}" if given else ""
    message = f"match.{field}: no {names} request{condition} has a {field}"
    return RuleError(f"match.{field}", msgspec.to_builtins(getattr(match, field)), allowed, message)


def _check_version(match: Match, apis: list[Api]) -> None:
    """Raise RuleError if no version of the APIs is handled that matches."""
    if match.api_version is None or any(api.key in _HANDLED_IN_ANY_VERSION for api in apis):
        return
    test = compile_test(match, "api_version")
    if not any(test(version) for api in apis for version in api.versions.supported):
        served = " or ".join(f"{api.versions.first} to {api.versions.last} of {api.name}" for api in apis)
        message = f"match.api_version: a request of another version is not handled; served are {served}"
        raise RuleError("match.api_version", msgspec.to_builtins(match.api_version), served, message)


def _unknown_api(field: str, name: str) -> RuleError:
    hint = suggestion(name, _APIS_BY_NAME)
    return RuleError(field, name, ", ".join(sorted(_APIS_BY_NAME)), f"{field}: there is no API {name!r}{hint}")


def _can_name(api: Api, field: str) -> bool:
    if field in _PRODUCE_ONLY:
        return api.key is ApiKey.PRODUCE
    if field == "topic":
        return bool(api.requests)
    if field == "partition":
        return any(each.partitions for each in api.requests)
    if api.key is ApiKey.PRODUCE and field in ("producer_id", "producer_epoch"):
        return True
    return not _HOLDERS[field].isdisjoint(_field_names(api))


@lru_cache(maxsize=len(APIS))
def _field_names(api: Api) -> frozenset[str]:
    """Return the names of all fields of the API's requests, at any depth."""
    return frozenset(_names_in(request_type(api)))


def _names_in(message: type[Message]) -> set[str]:
    names = set(message.__slots__)
    hints = get_type_hints(message)
    for name in message.__slots__:
        for inner in _types_in(cast("object", hints[name])):
            names |= _names_in(inner)
    return names


def _types_in(hint: object) -> list[type[Message]]:
    """Return the message classes within a type: X of list[X] and of list[X] | None."""
    if isinstance(hint, type) and issubclass(hint, Message):
        return [hint]
    return [inner for argument in get_args(hint) for inner in _types_in(argument)]
