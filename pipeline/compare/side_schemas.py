"""The schemas of the event id of each side: those of the side, then those of both. This module does not use Spark.

A schema of both sides, such as --value-schema, is left out of a side whose event id does not need it; one that neither
side needs is a mistake.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from ..bad_option import BadOption
from ..checks.event_id_parts import parse_row_id
from ..schemas.schema_options import CONFLUENT_ID_BYTES, NO_SCHEMAS, Content, Format, SchemaOptions

_OPTION_NAMES = {"is_framed": "confluent-header"}


def schemas_of_side(event_id: str | None, own: SchemaOptions, shared: SchemaOptions) -> SchemaOptions:
    """Return the schemas of a side. own, shared: as set for the side and for both. Raises BadOption."""
    parts = () if event_id is None else parse_row_id(event_id)
    formats: dict[Content, Format] = {}
    for part in parts:
        if part.is_decoded:
            formats["key" if part.content == "key" else "value"] = part.format
    merged = _with_own(own, _by_file(formats, own, shared))
    files = [merged.file_of(content) for content in formats]
    if own.schema_registry is None and formats and not all(files):
        merged = replace(
            merged, schema_registry=shared.schema_registry, schema_registry_user=shared.schema_registry_user
        )
    if shared.is_framed and any(files):
        merged = replace(merged, is_framed=True)
    is_headed = merged.is_framed or merged.schema_registry is not None
    if own.schema_id_bytes == CONFLUENT_ID_BYTES and is_headed and "protobuf" not in formats.values():
        merged = replace(merged, schema_id_bytes=shared.schema_id_bytes)
    return merged


def check_shared_used(shared: SchemaOptions, sides: Sequence[SchemaOptions]) -> None:
    """Raise BadOption for a schema option of both sides that none of them uses."""
    for field in fields(SchemaOptions):
        value = getattr(shared, field.name)
        is_set = value != getattr(NO_SCHEMAS, field.name) and field.name != "schema_registry_user"
        if is_set and all(getattr(side, field.name) != value for side in sides):
            name = _OPTION_NAMES.get(field.name, field.name.replace("_", "-"))
            raise BadOption(f"{name}: the event id of neither side needs it; it is for fields such as avro:id")


def _by_file(formats: dict[Content, Format], own: SchemaOptions, shared: SchemaOptions) -> SchemaOptions:
    """Return the files and messages of both sides for the contents that a side decodes; its own registry is first."""
    found = NO_SCHEMAS
    for content, form in formats.items():
        file = shared.file_of(content)
        if file is None or own.schema_registry is not None or own.file_of(content) is not None:
            continue
        message = shared.message_of(content) if form == "protobuf" else None
        if content == "key":
            found = replace(found, key_schema=file, key_message=message)
        else:
            found = replace(found, value_schema=file, value_message=message)
    return found


def _with_own(own: SchemaOptions, schemas: SchemaOptions) -> SchemaOptions:
    given = {field.name: getattr(own, field.name) for field in fields(SchemaOptions)}
    return replace(schemas, **{name: value for name, value in given.items() if value != getattr(NO_SCHEMAS, name)})
