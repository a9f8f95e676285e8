"""Source of a message's read method."""

from __future__ import annotations

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
from .version_conditions import condition, expression, indented, statements


def read_body(struct: MessageStruct) -> list[str]:
    """Return the lines of the body."""
    lines = ["message = cls.__new__(cls)"]
    for group in groups_of(struct):
        lines += _group(group, struct)
    tagged = tagged_fields_of(struct)
    for field in tagged:
        if not field.untagged:
            lines.append(f"message.{field.name} = {field.default}")
    if struct.flexible:
        body = "\n".join(_tagged(tagged, struct)) if tagged else "reader.skip_tagged_fields()"
        lines += statements({body: struct.flexible}, struct.versions, struct.flexible)
    return [*lines, "return message"]


def _group(group: FieldGroup, struct: MessageStruct) -> list[str]:
    absent = struct.versions - group.versions
    if absent and len(group.fields) == 1 and not group.fields[0].is_array:
        return _scalar(group.fields[0], group.versions, struct, absent)
    lines: list[str] = []
    for part in group.parts():
        if len(part) > 1:
            targets = ", ".join(f"message.{field.name}" for field in part)
            lines.append(f"{targets} = reader.integers({run_name(part)})")
        elif part[0].is_array:
            lines += _array(part[0], group.versions, struct)
        else:
            lines += _scalar(part[0], group.versions, struct, frozenset())
    if not absent:
        return lines
    defaults = [f"message.{field.name} = {field.default}" for field in group.fields]
    wanted = condition(group.versions, struct.versions, struct.flexible)
    return [f"if {wanted}:", *indented(lines), "else:", *indented(defaults)]


def _scalar(field: MessageField, domain: Versions, struct: MessageStruct, absent: Versions) -> list[str]:
    cases = cases_of(field, domain, struct.flexible, lambda flexible, nullable: _value(field, flexible, nullable))
    if absent:
        cases[field.default] = absent
    return [f"message.{field.name} = {expression(cases, struct.flexible)}"]


def _value(field: MessageField, flexible: bool, nullable: bool) -> str:
    if isinstance(field.type, Primitive):
        return f"reader.{method_of(field.type, flexible=flexible, nullable=nullable)}()"
    read = f"{field.type.name}.read(reader, version)"
    return f"None if reader.is_null_struct() else {read}" if nullable else read


def _array(field: MessageField, domain: Versions, struct: MessageStruct) -> list[str]:
    def count_code(flexible: bool, nullable: bool) -> str:
        method = array_length_method(flexible=flexible, nullable=nullable)
        versions = domain & struct.flexible if flexible else domain - struct.flexible
        return f"reader.{method}({_element_bytes_min(field, versions, flexible=flexible)})"

    count = f"{field.name}_count"
    lines = [f"{count} = {expression(cases_of(field, domain, struct.flexible, count_code), struct.flexible)}"]
    if isinstance(field.type, MessageStruct):
        elements = f"[{field.type.name}.read(reader, version) for _ in range({count})]"
    elif field.type.format_code:
        elements = f"reader.integer_list({constant_of(field)}, {count})"
    else:
        read, choice = _element_reader(field, field.type, domain, struct)
        lines += choice
        elements = f"[{read}() for _ in range({count})]"
    if field.nullable & domain:
        elements = f"None if {count} is None else {elements}"
    return [*lines, f"message.{field.name} = {elements}"]


def _element_bytes_min(field: MessageField, versions: Versions, *, flexible: bool) -> int:
    if isinstance(field.type, Primitive):
        smallest = field.type.bytes_min(flexible=flexible)
    else:
        smallest = min(field.type.bytes_min_of_version(version) for version in versions)
    assert smallest > 0, f"{field.name} has elements of 0 bytes: the frame would not limit their count"
    return smallest


def _element_reader(
    field: MessageField, primitive: Primitive, domain: Versions, struct: MessageStruct
) -> tuple[str, list[str]]:
    """Return the expression that reads one element, and the lines that choose it by version once for all elements."""

    def method_code(flexible: bool, _nullable: bool) -> str:
        return f"reader.{method_of(primitive, flexible=flexible, nullable=False)}"

    cases = cases_of(field, domain, struct.flexible, method_code)
    if len(cases) == 1:
        return next(iter(cases)), []
    return f"read_{field.name}", [f"read_{field.name} = {expression(cases, struct.flexible)}"]


def _tagged(tagged: list[MessageField], struct: MessageStruct) -> list[str]:
    lines = [
        "for _ in range(reader.tagged_field_count()):",
        "    tag = reader.unsigned_varint()",
        "    end = reader.tagged_field_end()",
    ]
    for index, field in enumerate(tagged):
        body: list[str] = []
        without = struct.flexible - field.tagged
        if without:
            body = [
                f"if {condition(without, struct.flexible, struct.flexible)}:",
                "    reader.reject_tag(tag, version)",
            ]
        body += (
            _array(field, field.tagged, struct) if field.is_array else _scalar(field, field.tagged, struct, Versions())
        )
        lines += [f"    {'elif' if index else 'if'} tag == {field.tag}:", *indented(indented(body))]
    return [*lines, "    else:", "        reader.position = end", "    reader.end_tagged_field(end)"]
