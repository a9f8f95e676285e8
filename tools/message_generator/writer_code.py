"""Source of a message's write method."""

from __future__ import annotations

from dataclasses import replace

from .definitions import MessageField, MessageStruct, Primitive, Versions
from .field_groups import (
    FieldGroup,
    array_length_method,
    cases_of,
    constant_of,
    groups_of,
    method_of,
    run_name,
    tagged_fields_of,
)
from .version_conditions import condition, indented, statements


def write_body(struct: MessageStruct) -> list[str]:
    """Return the lines of the body."""
    lines: list[str] = []
    for group in groups_of(struct):
        lines += _group(group, struct)
    if struct.flexible:
        tagged = tagged_fields_of(struct)
        body = "\n".join(_tagged(tagged, struct)) if tagged else "writer.no_tagged_fields()"
        lines += statements({body: struct.flexible}, struct.versions, struct.flexible)
    return lines


def _group(group: FieldGroup, struct: MessageStruct) -> list[str]:
    lines: list[str] = []
    for part in group.parts():
        if len(part) > 1:
            values = ", ".join(f"self.{field.name}" for field in part)
            lines.append(f"writer.integers({run_name(part)}, {values})")
        else:
            lines += _field(part[0], group.versions, struct, "writer")
    return statements({"\n".join(lines): group.versions}, struct.versions, struct.flexible)


def _field(field: MessageField, domain: Versions, struct: MessageStruct, writer: str) -> list[str]:
    if field.is_array:
        return _array(field, domain, struct, writer)

    def value_code(flexible: bool, nullable: bool) -> str:
        return "\n".join(_value(field, f"{struct.name}.{field.name}", writer, flexible=flexible, nullable=nullable))

    return statements(cases_of(field, domain, struct.flexible, value_code), domain, struct.flexible)


def _value(field: MessageField, full_name: str, writer: str, *, flexible: bool, nullable: bool) -> list[str]:
    value = f"self.{field.name}"
    if field.nullable and not nullable:
        value = f'required({value}, "{full_name}")'
    if isinstance(field.type, Primitive):
        return [f"{writer}.{method_of(field.type, flexible=flexible, nullable=nullable)}({value})"]
    write = f"{value}.write({writer}, version)"
    if not nullable:
        return [write]
    return [
        f"if {value} is None:",
        f"    {writer}.null_struct()",
        "else:",
        f"    {writer}.present_struct()",
        f"    {write}",
    ]


def _array(field: MessageField, domain: Versions, struct: MessageStruct, writer: str) -> list[str]:
    values = f"self.{field.name}"
    count = f"len({values})"
    lines: list[str] = []
    if field.nullable:
        lines.append(f"{field.name}_count = None if {values} is None else {count}")
        count = f"{field.name}_count"

    def count_code(flexible: bool, nullable: bool) -> str:
        method = array_length_method(flexible=flexible, nullable=nullable)
        checked = f'required({count}, "{struct.name}.{field.name}")' if field.nullable and not nullable else count
        return f"{writer}.{method}({checked})"

    lines += statements(cases_of(field, domain, struct.flexible, count_code), domain, struct.flexible)
    elements = f"{values} or ()" if field.nullable else values
    element = f"{field.name}_element"
    if isinstance(field.type, MessageStruct):
        return [*lines, f"for {element} in {elements}:", f"    {element}.write({writer}, version)"]
    if field.type.format_code:
        return [*lines, f"{writer}.integer_list({constant_of(field)}, {elements})"]
    return [*lines, f"for {element} in {elements}:", *indented(_element(field.type, element, domain, struct, writer))]


def _element(primitive: Primitive, element: str, domain: Versions, struct: MessageStruct, writer: str) -> list[str]:
    compact, legacy = (method_of(primitive, flexible=flexible, nullable=False) for flexible in (True, False))
    if compact == legacy:
        return [f"{writer}.{compact}({element})"]
    cases = {
        f"{writer}.{method}({element})": versions
        for method, versions in ((compact, domain & struct.flexible), (legacy, domain - struct.flexible))
        if versions
    }
    return statements(cases, domain, struct.flexible)


def _tagged(tagged: list[MessageField], struct: MessageStruct) -> list[str]:
    lines = ["tagged: list[tuple[int, Writer]] = []"]
    for field in tagged:
        conditions = [condition(field.tagged, struct.flexible, struct.flexible), _differs_from_default(field)]
        lines += [
            f"if {' and '.join(part for part in conditions if part)}:",
            f"    {field.name}_field = Writer()",
            *indented(_field(_never_null(field), field.tagged, struct, f"{field.name}_field")),
            f"    tagged.append(({field.tag}, {field.name}_field))",
        ]
    return [*lines, "writer.tagged_fields(tagged)"]


def _never_null(field: MessageField) -> MessageField:
    """Return the field as not nullable if null is its default, which is not written."""
    return replace(field, nullable=Versions()) if field.default == "None" else field


def _differs_from_default(field: MessageField) -> str:
    """Return the condition to write a tagged field: its value is not the default."""
    value = f"self.{field.name}"
    match field.default:
        case "None":
            return f"{value} is not None"
        case "False" | "[]":
            return value
        case _:
            return f"{value} != {field.default}"
