"""The options of commands that say what the event id of a record is, and by which schemas it is decoded."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from .schemas.schema_options import SchemaOptions

# The fields of SchemaOptions with the name of their option. is_framed has another one; schema_id_bytes is a number.
_SCHEMA_ARGUMENTS = (
    *("value_schema", "value_message", "key_schema", "key_message"),
    *("schema_registry", "schema_registry_user"),
)
_EMPTY_ID = click.option(
    "--empty-id-is-an-id", is_flag=True, help="Compare records whose event id has no characters too."
)


def _schema_options(prefix: str, of: str) -> tuple[Callable[..., Callable[..., None]], ...]:
    """Return the options of SchemaOptions. prefix: of their names. of: behind what each help text says, or nothing."""
    python = prefix.replace("-", "_")
    return (
        click.option(
            f"--{prefix}value-schema",
            metavar="FILE",
            help=f"The schema of the values{of}: Avro, or a descriptor set of Protobuf.",
        ),
        click.option(
            f"--{prefix}value-message",
            metavar="NAME",
            help=f"The Protobuf message of the values{of}, such as shop.Order.",
        ),
        click.option(f"--{prefix}key-schema", metavar="FILE", help=f"The schema of the keys{of}."),
        click.option(f"--{prefix}key-message", metavar="NAME", help=f"The Protobuf message of the keys{of}."),
        click.option(
            f"{python}is_framed",
            f"--{prefix}confluent-header",
            is_flag=True,
            help=f"Skip Confluent's header in front of keys and values{of}.",
        ),
        click.option(
            f"{python}schema_id_bytes",
            f"--{prefix}schema-id-bytes",
            type=click.Choice(["4", "8"]),
            default="4",
            show_default=True,
            help=f"The bytes of the schema id in that header{of}: 8 for Avro of Apicurio's older serializers.",
        ),
        click.option(
            f"--{prefix}schema-registry",
            metavar="URL",
            help=f"Get the schemas of keys and values{of} by the ids in Confluent's header.",
        ),
        click.option(
            f"--{prefix}schema-registry-user",
            envvar=f"FAUXKA_{python.upper()}SCHEMA_REGISTRY_USER",
            metavar="USER:PASSWORD",
            help=f"The user of the schema registry{of}.",
        ),
    )


def event_id_options(*, is_required: bool, more: str = "") -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds the options to a command.

    more: the end of the help text of the event id. The command gets the arguments event_id, empty_id_is_an_id and
    schemas, a SchemaOptions.
    """
    event_id = click.option(
        "--event-id",
        required=is_required,
        metavar="ID[+ID...]",
        help=f"The event id: key, header:NAME, json:$.PATH, avro:FIELD or protobuf:FIELD, or several.{more}",
    )

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        decorated = _with_schemas(command, "")
        for option in reversed((event_id, _EMPTY_ID, *_schema_options("", ""))):
            decorated = option(decorated)
        return decorated

    return decorate


def side_schema_options(side: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds the options of the schemas of one side: --left-value-schema and so on.

    The command gets the argument left_schemas or right_schemas, a SchemaOptions.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        decorated = _with_schemas(command, f"{side}_")
        for option in reversed(_schema_options(f"{side}-", f" on the {side} side")):
            decorated = option(decorated)
        return decorated

    return decorate


def _with_schemas(command: Callable[..., None], prefix: str) -> Callable[..., None]:
    """Return the command with an argument for each option of SchemaOptions in place of `schemas`, with a prefix."""

    @functools.wraps(command)
    def call(**arguments: Any) -> None:
        schemas = SchemaOptions(
            is_framed=arguments.pop(f"{prefix}is_framed"),
            schema_id_bytes=8 if arguments.pop(f"{prefix}schema_id_bytes") == "8" else 4,
            **{name: arguments.pop(f"{prefix}{name}") for name in _SCHEMA_ARGUMENTS},
        )
        command(**arguments, **{f"{prefix}schemas": schemas})

    return call
