"""Checks that the requests of an API can have the fields of a match: otherwise the rule would never match."""

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

_APIS_BY_NAME = {api.name: api for api in APIS.values()}
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
    names = match.api if isinstance(match.api, list) else [match.api] if match.api is not None else []
    return [_APIS_BY_NAME[name] for name in names]


def check_apis(match: Match) -> None:
    """Raise RuleError for an API that is not served, and for a match field that no request of the APIs has."""
    names = match.api if isinstance(match.api, list) else [match.api] if match.api is not None else []
    for index, name in enumerate(names):
        if name not in _APIS_BY_NAME:
            raise _unknown_api(f"match.api[{index}]" if isinstance(match.api, list) else "match.api", name)
    apis = apis_of(match)
    if not apis:
        return
    for field in (
        "transactional_id",
        "group_id",
        "topic",
        "partition",
        "producer_id",
        "producer_epoch",
        *_PRODUCE_ONLY,
    ):
        wanted: object = getattr(match, field)
        if wanted is not None and not any(_can_name(api, field) for api in apis):
            allowed = "no value, or another match.api"
            message = f"match.{field}: no {' or '.join(api.name for api in apis)} request has a {field}"
            raise RuleError(f"match.{field}", msgspec.to_builtins(wanted), allowed, message)


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
