"""The fields that rules for requests and rules for files have in common."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ..rule_error import RuleError

NAME_CHARACTERS_MAX = 1000


class NamedRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A rule with a name. enabled: false adds it disabled; it matches and counts nothing until it is enabled."""

    error_type = RuleError

    name: Annotated[str, Meta(max_length=NAME_CHARACTERS_MAX)] = ""
    enabled: bool = True
