"""Reads what stands in a call's path and behind it: text, which becomes the fields of a Struct or an error."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import msgspec

from ..faults.rule_error import RuleError
from ..faults.strict_json import decode_query

Parameters = TypeVar("Parameters", bound=msgspec.Struct)


class NoParameters(msgspec.Struct, forbid_unknown_fields=True):
    """Of a call that takes none."""


def read_parameters(kind: type[Parameters], given: Iterable[tuple[str, str]]) -> Parameters:
    """Return given, names and values, as a Struct of that kind.

    Raises RuleError for what is not known, not of its type, missing, or given more than once.
    """
    values: dict[str, str] = {}
    for name, text in given:
        if name in values:
            raise RuleError(name, text, "one value", f"{name} is given more than once")
        values[name] = text
    return decode_query(values, kind)
