"""Groups of adjacent fields, and the calls for a field by version, for the reader and the writer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby

from .definitions import MessageField, MessageStruct, Primitive, Versions

# The methods of Reader and Writer that begin with a length or a count, which flexible versions write in another way.
LENGTH_PREFIXED = {"data", "integer_array", "string", "string_array", "struct_array"}


@dataclass(frozen=True, slots=True)
class FieldGroup:
    """Adjacent fields with the same versions."""

    versions: Versions
    fields: tuple[MessageField, ...]

    def parts(self) -> Iterator[list[MessageField]]:
        """Yield runs of integers, which one struct unpacks, and each other field on its own."""
        for is_integer, run in groupby(self.fields, lambda field: format_code(field) is not None):
            if is_integer:
                yield list(run)
            else:
                for field in run:
                    yield [field]


def groups_of(struct: MessageStruct) -> list[FieldGroup]:
    """Return the groups of fields that are not tagged, in wire order."""
    in_line = [field for field in struct.fields if field.untagged]
    return [FieldGroup(versions, tuple(run)) for versions, run in groupby(in_line, lambda field: field.untagged)]


def tagged_fields_of(struct: MessageStruct) -> list[MessageField]:
    """Return the tagged fields in ascending order of tags, the order on the wire."""
    tagged = [(field.tag, field) for field in struct.fields if field.tag is not None]
    assert len({tag for tag, _ in tagged}) == len(tagged), f"{struct.name} has a tag twice"
    return [field for _, field in sorted(tagged, key=lambda pair: pair[0])]


def format_code(field: MessageField) -> str | None:
    """Return the struct format of a field that is an integer, None for any other field."""
    return field.type.format_code if isinstance(field.type, Primitive) and not field.is_array else None


def run_name(run: list[MessageField]) -> str:
    """Return the name of the constant that lays out a run of integers: INT16_INT32."""
    return "_".join(constant_of(field) for field in run)


def run_format(run: list[MessageField]) -> str:
    """Return the struct format of a run of integers."""
    return ">" + "".join(format_code(field) or "" for field in run)


def constant_of(field: MessageField) -> str:
    """Return the name of the struct in protocol.primitives for one integer of the field."""
    assert isinstance(field.type, Primitive)
    return field.type.value.upper()


def method_of(field: MessageField) -> str:
    """Return the name, without prefixes, of the method of Reader and Writer for a field that is not one struct."""
    if not isinstance(field.type, Primitive):
        return "struct_array"
    if not field.is_array:
        return field.type.value
    return "integer_array" if field.type.format_code else f"{field.type.value}_array"


def cases_of(field: MessageField, domain: Versions, code: Callable[[Versions, bool], str]) -> dict[str, Versions]:
    """Return the versions of the domain that need each code. code: called with (versions, is nullable)."""
    cases = ((domain & field.nullable, True), (domain - field.nullable, False))
    return {code(versions, is_nullable): versions for versions, is_nullable in cases if versions}


def call(method: str, arguments: list[str], versions: Versions, flexible: Versions, *, nullable: bool) -> str:
    """Return a call of a method of Reader and Writer. method: its name without prefixes."""
    name = f"nullable_{method}" if nullable else method
    if method in LENGTH_PREFIXED and versions & flexible:
        if not versions <= flexible:
            arguments = [*arguments, "flexible"]
        elif method == "string":
            name = f"compact_{name}"
        else:
            arguments = [*arguments, "True"]
    return f"{name}({', '.join(arguments)})"
