"""The options of commands that say what the event id of a record is, and by which schemas it is decoded."""

from __future__ import annotations

import functools
from collections.abc import Callable

import click

from .schemas.schema_options import SchemaOptions

# The fields of SchemaOptions with the name of their option. is_framed has another one; schema_id_bytes is a number.
_SCHEMA_ARGUMENTS = (
    *("value_schema", "value_message", "key_schema", "key_message"),
    *("schema_registry", "schema_registry_user"),
)
_OPTIONS = (
    click.option("--empty-id-is-an-id", is_flag=True, help="Compare records whose event id has no characters too."),
    click.option(
        "--value-schema", metavar="FILE", help="The schema of the values: Avro, or a descriptor set of Protobuf."
    ),
    click.option("--value-message", metavar="NAME", help="The Protobuf message of the values, such as shop.Order."),
    click.option("--key-schema", metavar="FILE", help="The schema of the keys."),
    click.option("--key-message", metavar="NAME", help="The Protobuf message of the keys."),
    click.option(
        "is_framed", "--confluent-header", is_flag=True, help="Skip Confluent's header in front of keys and values."
    ),
    click.option(
        "schema_id_bytes",
        "--schema-id-bytes",
        type=click.Choice(["4", "8"]),
        default="4",
        show_default=True,
        help="The bytes of the schema id in that header: 8 for Avro of Apicurio's older serializers.",
    ),
    click.option(
        "--schema-registry", metavar="URL", help="Get the schemas of keys and values by the ids in Confluent's header."
    ),
    click.option(
        "--schema-registry-user",
        envvar="FAUXKA_SCHEMA_REGISTRY_USER",
        metavar="USER:PASSWORD",
        help="The user of the schema registry.",
    ),
)


def event_id_options(*, is_required: bool) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds the options to a command.

    The command gets the arguments event_id, empty_id_is_an_id and schemas, a SchemaOptions.
    """
    without = "" if is_required else " Without it only sequences are audited."
    event_id = click.option(
        "--event-id",
        required=is_required,
        metavar="ID[+ID...]",
        help=f"The event id: key, header:NAME, json:$.PATH, avro:FIELD or protobuf:FIELD, or several.{without}",
    )

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        decorated = _with_schemas(command)
        for option in reversed((event_id, *_OPTIONS)):
            decorated = option(decorated)
        return decorated

    return decorate


def _with_schemas(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with an argument for each option of SchemaOptions in place of `schemas`."""

    @functools.wraps(command)
    def call(is_framed: bool, schema_id_bytes: str, **arguments: str | None) -> None:
        schemas = SchemaOptions(
            is_framed=is_framed,
            schema_id_bytes=8 if schema_id_bytes == "8" else 4,
            **{name: arguments.pop(name) for name in _SCHEMA_ARGUMENTS},
        )
        command(schemas=schemas, **arguments)

    return call
