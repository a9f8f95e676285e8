"""Reads the path and query parameters of a call as a model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import msgspec

from ..faults.rule_error import RuleError
from ..faults.strict_json import decode_query

Parameters = TypeVar("Parameters", bound=msgspec.Struct)


class NoParameters(msgspec.Struct, forbid_unknown_fields=True):
    """The model of a call without parameters."""


def read_parameters(kind: type[Parameters], given: Iterable[tuple[str, str]]) -> Parameters:
    """Return names and values as a model. Raises RuleError for unknown, invalid, missing and repeated parameters."""
    values: dict[str, str] = {}
    for name, text in given:
        if name in values:
            raise RuleError(name, text, "one value", f"{name} is given more than once")
        values[name] = text
    return decode_query(values, kind)
