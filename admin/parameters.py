"""Reads what stands in a call's path and behind it: text, which becomes the fields of a Struct or an error."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeVar, cast

import msgspec

from .errors import CallError

Parameters = TypeVar("Parameters", bound=msgspec.Struct)

# As msgspec says what it expects: "Expected `int | null` >= 0, got `str`".
_EXPECTED = re.compile(r"Expected (.+?)(?:, got .*)?$")
_WORDS = {"int": "integer", "str": "text", "bool": "true or false", "float": "number"}


def read_parameters(kind: type[Parameters], given: Iterable[tuple[str, str]]) -> Parameters:
    """Return given, names and values, as a Struct of that kind; raises CallError 400.

    A name may be given once.
    """
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    values: dict[str, object] = {}
    for name, text in given:
        if name not in fields:
            allowed = ", ".join(fields) or "none"
            raise CallError(400, f"unknown parameter {name}", field=name, value=text, allowed=allowed)
        if name in values:
            raise CallError(400, f"{name} is given more than once", field=name, value=text, allowed="one value")
        values[name] = _converted(name, text, fields[name].type)
    missing = next((name for name, field in fields.items() if field.required and name not in values), None)
    if missing is not None:
        raise CallError(400, f"{missing} is missing", field=missing, allowed=_allowed(fields[missing].type))
    return msgspec.convert(values, kind)


def no_parameters(given: Iterable[tuple[str, str]]) -> None:
    """Check that nothing stands behind the path; raises CallError 400."""
    read_parameters(_NoParameters, given)


class _NoParameters(msgspec.Struct):
    pass


def _converted(name: str, text: str, kind: type) -> object:
    try:
        return cast(object, msgspec.convert(text, kind, strict=False))
    except msgspec.ValidationError as error:
        allowed = _in_words(str(error))
        raise CallError(
            400, f"{name}: expected {allowed}, got {text!r}", field=name, value=text, allowed=allowed
        ) from error


def _allowed(kind: type) -> str:
    """Return what a field of that type may be."""
    try:
        msgspec.convert(object(), kind)
    except msgspec.ValidationError as error:
        return _in_words(str(error))
    return "a value"


def _in_words(message: str) -> str:
    """Return what msgspec expected, by the words of the documentation."""
    found = _EXPECTED.match(message)
    expected = (found.group(1) if found else message).replace("`", "")
    return " or ".join(_WORDS.get(word, word) for word in expected.split(" | ") if word != "null")


def single(mapping: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return the parts of a path as names and values."""
    return [(name, str(value)) for name, value in mapping.items()]
