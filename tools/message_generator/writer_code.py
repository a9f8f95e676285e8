"""Source of a message's write method."""

from __future__ import annotations

from dataclasses import replace

from .definitions import MessageField, MessageStruct, Versions
from .field_groups import FieldGroup, call, cases_of, constant_of, groups_of, method_of, run_name, tagged_fields_of
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
    def code(versions: Versions, is_nullable: bool) -> str:
        value = f"self.{field.name}"
        if field.nullable and not is_nullable:
            value = f'required({value}, "{struct.name}.{field.name}")'
        if isinstance(field.type, MessageStruct) and not field.is_array:
            return "\n".join(_struct(value, writer, nullable=is_nullable))
        arguments = [value]
        if isinstance(field.type, MessageStruct):
            arguments = [value, "version"]
        elif field.is_array and field.type.format_code:
            arguments = [constant_of(field), value]
        return f"{writer}.{call(method_of(field), arguments, versions, struct.flexible, nullable=is_nullable)}"

    return statements(cases_of(field, domain, code), domain, struct.flexible)


def _struct(value: str, writer: str, *, nullable: bool) -> list[str]:
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
