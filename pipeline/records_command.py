"""The command `records`: the records of a log around given offsets, one JSON object a line. It starts no Spark.

Invalid input prints one line and exits with code 2.
"""

from __future__ import annotations

import json
import sys
from typing import TypedDict, Unpack

import click

from . import read
from .bad_option import BadOption
from .cluster.spark_jars import INSTALL
from .command_config import command_config, command_config_option
from .storage_attempts import storage_attempts, storage_options

_AROUND_DEFAULT = 2
# As many lines as a reader looks at; fauxka audit reads a whole log.
_AROUND_MAX = 1_000


class RecordsArguments(TypedDict):
    """The options of the command by their names in Python."""

    path: str | None
    tier: str | None
    bootstrap: str | None
    command_config: str | None
    storage_attempts: int | None
    places: tuple[str, ...]
    around: int


@click.command()
@click.option("--path", metavar="PATH|URI", help="Read segment files: a log folder, a partition's folder or one file.")
@click.option("--tier", metavar="PATH|URI", help="Read also the remote tier of the log at --path.")
@click.option("--bootstrap", metavar="HOST:PORT", help="Read topics of a broker.")
@command_config
@storage_attempts
@click.option(
    "places",
    "--at",
    multiple=True,
    required=True,
    metavar="TOPIC-PARTITION:OFFSET",
    help="An offset of a partition, such as orders-0:5; several are allowed.",
)
@click.option(
    "--around",
    type=click.IntRange(0, _AROUND_MAX),
    default=_AROUND_DEFAULT,
    show_default=True,
    metavar="COUNT",
    help="The number of offsets in front of it and behind it.",
)
def records(**given: Unpack[RecordsArguments]) -> None:
    """Print the records of a log around given offsets, with the producer, epoch and sequence of each.

    One JSON object a line. Markers, records of aborted transactions and damaged batches are among them.
    """
    named = {"path": given["path"], "tier": given["tier"], "bootstrap": given["bootstrap"]}
    options = {name: value for name, value in named.items() if value is not None}
    try:
        options |= command_config_option(given["command_config"]) | storage_options(given["storage_attempts"])
        places = [read.records_around.parse_place(text) for text in given["places"]]
        shown: set[str] = set()
        for place in places:
            is_there = False
            for row in read.records_around.records_around(options, place, given["around"]):
                is_there = is_there or row["offset"] == place.offset
                line = json.dumps(row)
                # The surroundings of two places can overlap.
                if line not in shown:
                    click.echo(line)
                shown.add(line)
            if not is_there:
                click.echo(f"fauxka: there is no record at {place}", file=sys.stderr)
    except BadOption as error:
        raise click.ClickException(str(error)) from error
    except ModuleNotFoundError as error:
        raise click.ClickException(f"{error.name} is not installed; install it with {INSTALL}") from error
