"""Source of a message's read_fields method."""

from __future__ import annotations

from .definitions import MessageField, MessageStruct, Versions
from .field_groups import FieldGroup, call, cases_of, constant_of, groups_of, method_of, run_name, tagged_fields_of
from .version_conditions import condition, expression, indented, statements

NO_VERSIONS: Versions = frozenset()


def read_body(struct: MessageStruct) -> list[str]:
    """Return the lines of the body."""
    lines: list[str] = []
    for group in groups_of(struct):
        lines += _group(group, struct)
    tagged = tagged_fields_of(struct)
    for field in tagged:
        if not field.untagged:
            lines.append(f"self.{field.name} = {field.default}")
    if struct.flexible:
        body = "\n".join(_tagged(tagged, struct)) if tagged else "reader.skip_tagged_fields()"
        lines += statements({body: struct.flexible}, struct.versions, struct.flexible)
    return lines


def _group(group: FieldGroup, struct: MessageStruct) -> list[str]:
    absent = struct.versions - group.versions
    if absent and len(group.fields) == 1:
        return [_assignment(group.fields[0], group.versions, struct, absent)]
    lines: list[str] = []
    for part in group.parts():
        if len(part) > 1:
            targets = ", ".join(f"self.{field.name}" for field in part)
            lines.append(f"{targets} = reader.integers({run_name(part)})")
        else:
            lines.append(_assignment(part[0], group.versions, struct))
    if not absent:
        return lines
    defaults = [f"self.{field.name} = {field.default}" for field in group.fields]
    wanted = condition(group.versions, struct.versions, struct.flexible)
    return [f"if {wanted}:", *indented(lines), "else:", *indented(defaults)]


def _assignment(field: MessageField, domain: Versions, struct: MessageStruct, absent: Versions = NO_VERSIONS) -> str:
    """Return the line that reads the field in the versions of the domain, and sets its default in the absent ones."""

    def code(versions: Versions, is_nullable: bool) -> str:
        return _value(field, versions, struct.flexible, nullable=is_nullable)

    cases = cases_of(field, domain, code)
    if absent:
        cases[field.default] = absent
    return f"self.{field.name} = {expression(cases, struct.flexible)}"


def _value(field: MessageField, versions: Versions, flexible: Versions, *, nullable: bool) -> str:
    arguments: list[str] = []
    if isinstance(field.type, MessageStruct):
        if not field.is_array:
            read = f"{field.type.name}.read(reader, version)"
            return f"None if reader.is_null_struct() else {read}" if nullable else read
        arguments = [field.type.name, "version", _element_bytes_min(field.type, versions, flexible)]
    elif field.is_array and field.type.format_code:
        arguments = [constant_of(field)]
    return f"reader.{call(method_of(field), arguments, versions, flexible, nullable=nullable)}"


def _element_bytes_min(element: MessageStruct, versions: Versions, flexible: Versions) -> str:
    """Return the expression of the size of the smallest element."""
    sizes = [
        str(min(element.bytes_min_of_version(version) for version in part))
        for part in (versions & flexible, versions - flexible)
        if part
    ]
    assert "0" not in sizes, f"{element.name} has elements of 0 bytes: the frame would not limit their count"
    return " if flexible else ".join(dict.fromkeys(sizes))


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
        body.append(_assignment(field, field.tagged, struct))
        lines += [f"    {'elif' if index else 'if'} tag == {field.tag}:", *indented(indented(body))]
    return [*lines, "    else:", "        reader.position = end", "    reader.end_tagged_field(end)"]
