"""Describes what a field of a model allows: `integer >= 0`, `text or an object with regex`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from msgspec import inspect

# Java's long is the limit of every number. Only stricter limits are described.
_INT64_MAX = 2**63 - 1
# The longest string of Kafka's protocol.
_TEXT_MAX = 2**15 - 1
_SIMPLE_TYPES: dict[type, str] = {
    inspect.BytesType: "base64 text",
    inspect.BoolType: "true or false",
    inspect.DictType: "an object",
}
# Types that a description names last.
_LAST = (inspect.ListType, inspect.VarTupleType, inspect.NoneType)


@dataclass(frozen=True, slots=True)
class FieldType:
    """The types allowed at a place in a document. kinds: the allowed tags, if the place is the tag of an object."""

    types: tuple[inspect.Type, ...]
    kinds: tuple[str, ...] = ()

    @staticmethod
    def of(model: object) -> FieldType:
        """Return the type of a whole document."""
        return _field_type(_type_info(model))

    def child(self, step: str | int, value: object) -> FieldType:
        """Return the type of a field or item. value: the value here, whose tag chooses among tagged objects."""
        found: list[inspect.Type] = []
        for each in self.types:
            if isinstance(step, int):
                if isinstance(each, (inspect.ListType, inspect.VarTupleType)):
                    found.append(each.item_type)
            elif isinstance(each, inspect.DictType):
                found.append(each.value_type)
        if isinstance(step, str):
            structs = self._structs(value)
            if any(each.tag_field == step for each in structs):
                return FieldType((), tuple(str(each.tag) for each in structs))
            found.extend(field.type for each in structs for field in each.fields if field.encode_name == step)
        return FieldType(tuple(each for outer in found for each in _field_type(outer).types))

    def field_names(self, value: object) -> list[str]:
        """Return the names of the fields that the object here may have."""
        names: dict[str, None] = {}
        for each in self._structs(value):
            if each.tag_field is not None:
                names[each.tag_field] = None
            names.update((field.encode_name, None) for field in each.fields)
        return list(names)

    def required_names(self) -> list[str]:
        """Return the names of the fields that the object here must have."""
        return [field.encode_name for each in self._structs(None) for field in each.fields if field.required]

    @property
    def literals(self) -> list[str]:
        """The texts that are allowed here, if only certain ones are."""
        texts: list[object] = [*self.kinds]
        for each in self.types:
            if isinstance(each, inspect.LiteralType):
                texts += each.values
            elif isinstance(each, inspect.EnumType):
                texts += [cast("object", member.value) for member in each.cls]
        return [text for text in texts if isinstance(text, str)]

    def _structs(self, value: object) -> list[inspect.StructType]:
        """Return the object types allowed here, or only the one that the tag of the value names."""
        structs = [each for each in self.types if isinstance(each, inspect.StructType)]
        if not isinstance(value, dict):
            return structs
        given = cast("dict[str, object]", value)
        chosen = [each for each in structs if each.tag_field is not None and given.get(each.tag_field) == each.tag]
        return chosen or structs


def describe_type(field_type: FieldType) -> str:
    """Return what the type allows, as text."""
    if field_type.kinds:
        return _joined(list(field_type.kinds))
    plain = [each for each in field_type.types if not isinstance(each, _LAST)]
    tagged = [each for each in plain if isinstance(each, inspect.StructType) and each.tag_field]
    texts = [_describe(each) for each in plain if each not in tagged]
    if tagged:
        texts.append(f"an object with {tagged[0].tag_field}: {_joined([str(each.tag) for each in tagged])}")
    items = _joined(texts)
    for each in field_type.types:
        if isinstance(each, (inspect.ListType, inspect.VarTupleType)):
            of = describe_type(_field_type(each.item_type))
            count = _describe_length(each.min_length, each.max_length)
            noun = f"a list with {count}" if count else "a list"
            texts.append(f"{noun} of {'these' if of == items else of}")
    if any(isinstance(each, inspect.NoneType) for each in field_type.types):
        texts.append("null")
    return _joined(texts) or "nothing"


@lru_cache(maxsize=128)
def _type_info(model: object) -> inspect.Type:
    return inspect.type_info(model)


def _field_type(each: inspect.Type) -> FieldType:
    if isinstance(each, inspect.Metadata):
        return _field_type(each.type)
    if isinstance(each, inspect.UnionType):
        return FieldType(tuple(inner for member in each.types for inner in _field_type(member).types))
    return FieldType((each,))


def _describe(each: inspect.Type) -> str:
    match each:
        case inspect.IntType():
            return _describe_number("integer", each.ge, each.le)
        case inspect.FloatType():
            return _describe_number("number", each.ge, each.le)
        case inspect.StrType():
            is_any_length = not each.min_length and (each.max_length is None or each.max_length >= _TEXT_MAX)
            if is_any_length:
                return "text"
            return f"text of {_describe_length(each.min_length, each.max_length)} characters"
        case inspect.LiteralType():
            return _joined([str(value) for value in each.values])
        case inspect.EnumType():
            return _joined([str(member.value) for member in each.cls])
        case inspect.StructType():
            return f"an object with {', '.join(field.encode_name for field in each.fields) or 'no field'}"
        case _:
            return _SIMPLE_TYPES.get(type(each), "any value")


def _describe_number(noun: str, least: float | None, greatest: float | None) -> str:
    if greatest == _INT64_MAX:
        greatest = None
    if least is not None and least <= -_INT64_MAX:
        least = None
    if least is None and greatest is None:
        return noun
    if greatest is None:
        return f"{noun} >= {_number(least)}"
    return f"{noun} {_number(least)}..{_number(greatest)}"


def _describe_length(least: int | None, greatest: int | None) -> str:
    """Return an allowed number of items or characters as text, "" for any."""
    if greatest is None:
        return f"at least {least}" if least else ""
    return f"{least} to {greatest}" if least else f"at most {greatest}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _joined(texts: list[str]) -> str:
    return "".join(texts) if len(texts) < 2 else f"{', '.join(texts[:-1])} or {texts[-1]}"
