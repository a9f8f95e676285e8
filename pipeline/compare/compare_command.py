"""The command `compare`: what a sink, an application or a mirror lost, duplicated or changed of a log.

Spark is imported when the command runs. Invalid input prints one line and exits with code 2.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack, cast

import click

from .. import compare as parts
from ..bad_option import BadOption
from ..cluster.spark_settings import parse_assignments
from ..event_id_options import event_id_options, side_schema_options
from ..option_time import duration_ms
from ..schemas.schema_options import SchemaOptions
from ..storage_attempts import storage_options
from ..verdict_command import VerdictArguments, end_with, verdict_options, verdict_run
from .matching import Expected, MatchedBy, Matching, parse_offset_columns
from .side_schemas import check_shared_used, schemas_of_side
from .topic_map import parse_topic_map

if TYPE_CHECKING:
    from .sides import Side, SideName

# The options that each side has: the name behind --left- or --right-, the metavar and the help.
_SIDE_OPTIONS = (
    ("format", "FORMAT", "log, or a format of Spark such as parquet, jdbc, delta, iceberg.  [default: by its place]"),
    ("command-config", "FILE", "Properties of Kafka's clients for the broker of the {side} side."),
    ("topics", "NAME[,NAME]", "The topics of the {side} side, if it is a log.  [default: all but internal ones]"),
    ("event-id", "ID[+ID...]", "The event id on the {side} side; in a table also column:NAME.  [default: --event-id]"),
    ("offset-columns", "COLUMNS", "The offset columns of the {side} side.  [default: --offset-columns]"),
    ("key", "SQL", "The key of a record on the {side} side.  [default: key in a log]"),
    ("value", "SQL[,SQL...]", "The content that is compared, on the {side} side.  [default: value in a log]"),
    ("time", "SQL", "The time of a record on the {side} side.  [default: timestamp in a log]"),
    ("order", "SQL", "The order of the rows on the {side} side, if it is a table: a number or a timestamp."),
    ("where", "SQL", "Compare only the rows of the {side} side for which this is true."),
)


class CompareArguments(VerdictArguments):
    """The options of the command by their names in Python, except those of one side."""

    left: str
    right: str
    matched_by: str | None
    event_id: str | None
    empty_id_is_an_id: bool
    schemas: SchemaOptions
    offset_columns: str | None
    expected: str
    optional: str | None
    late_after: str | None
    caught_up: bool
    since: str | None
    until: str | None
    topic_map: tuple[str, ...]


def _side_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of both sides to the command."""
    for side in ("right", "left"):
        command = side_schema_options(side)(command)
        compacted = f"The {side} side has only the last record of each key.  [default: as its topics are]"
        command = click.option(f"--{side}-compacted", is_flag=True, help=compacted)(command)
        several = f"An option of Spark's reader for the {side} side; several are allowed."
        command = click.option(f"--{side}-option", multiple=True, metavar="KEY=VALUE", help=several)(command)
        for name, metavar, text in reversed(_SIDE_OPTIONS):
            command = click.option(f"--{side}-{name}", metavar=metavar, help=text.format(side=side))(command)
    return command


@click.command()
@click.argument("left")
@click.argument("right")
@click.option(
    "matched_by",
    "--by",
    type=click.Choice(["offsets", "event-id", "position"]),
    help="Match records by offset columns, by event id, or by their position in each key."
    "  [default: event-id with --event-id, otherwise offsets]",
)
@event_id_options(is_required=False, more=" In a table also column:NAME.")
@click.option(
    "--offset-columns",
    metavar="[TOPIC,]PARTITION,OFFSET",
    help="The columns in which a table has the place of the record in the log.  [default: topic,partition,offset]",
)
@click.option(
    "expected",
    "--expect",
    type=click.Choice(["one-to-one", "one-to-many"]),
    default="one-to-one",
    show_default=True,
    help="How many records of RIGHT one record of LEFT becomes.",
)
@click.option("--optional", metavar="SQL", help="Records of LEFT for which this is true need not arrive.")
@click.option("--late-after", metavar="DURATION", help="Records that arrive later than this are findings, such as 5m.")
@click.option("--caught-up", is_flag=True, help="RIGHT has had the time for all records: none is pending.")
@click.option(
    "--since",
    metavar="TIME|DURATION|FILE",
    help="Compare from this time on, or the offsets in a file of an audit's --offsets-out.  [default: everything]",
)
@click.option("--until", metavar="TIME|DURATION|FILE", help="Compare up to this time, or up to the offsets in a file.")
@click.option(
    "--topic-map",
    multiple=True,
    metavar="LEFT=RIGHT",
    help="The topic of RIGHT for a topic of LEFT; *=source.* for a MirrorMaker 2.  [default: of the same name]",
)
@_side_options
@verdict_options("comparison")
def compare(**given: Unpack[CompareArguments]) -> None:
    """Find what RIGHT lost, duplicated, changed or reordered of LEFT, and what only RIGHT has.

    LEFT and RIGHT are topics (topic://HOST:PORT/TOPIC), segment files, a folder of parquet, a table by JDBC (jdbc:...),
    or any other source of Spark with its --left-format or --right-format.

    Exit code 0 if RIGHT has what LEFT has, 1 if there are findings (see --baseline and --fail-on), 2 if the comparison
    failed.
    """
    end_with(partial(_run, given))


def _run(given: CompareArguments) -> int:
    """Run the comparison and return its exit code. Raises BadOption."""
    left, right = _side("left", given), _side("right", given)
    check_shared_used(given["schemas"], (left.columns.schemas, right.columns.schemas))
    request = parts.compare_request.CompareRequest(
        left,
        right,
        _matching(given),
        parse_topic_map(given["topic_map"]),
        parts.compared_range.parse_range(given["since"], given["until"], round(time.time() * 1000)),
    )
    return parts.compare_run.run_compare(request, verdict_run(given), sys.stderr)


def _matching(given: CompareArguments) -> Matching:
    options = cast("dict[str, Any]", given)
    has_event_id = any(options[name] is not None for name in ("event_id", "left_event_id", "right_event_id"))
    by = given["matched_by"] or ("event-id" if has_event_id else "offsets")
    late_after = given["late_after"]
    return Matching(
        cast(MatchedBy, by),
        cast(Expected, given["expected"]),
        given["optional"],
        None if late_after is None else duration_ms("late-after", late_after),
        is_caught_up=given["caught_up"],
        is_empty_an_id=given["empty_id_is_an_id"],
    )


def _side(name: SideName, given: CompareArguments) -> Side:
    """Return a side with its own options, or those of both. Raises BadOption."""
    own = cast("dict[str, Any]", given)
    for option in (*(f"{name}_{part.replace('-', '_')}" for part, _, _ in _SIDE_OPTIONS), "event_id", "offset_columns"):
        if own[option] is not None and not own[option].strip():
            raise BadOption(f"{option.replace('_', '-')}: must not be empty")
    own_offsets = own[f"{name}_offset_columns"]
    offsets = own_offsets or given["offset_columns"]
    event_id = own[f"{name}_event_id"] or given["event_id"]
    columns = parts.sides.Columns(
        event_id=event_id,
        schemas=schemas_of_side(event_id, own[f"{name}_schemas"], given["schemas"]),
        offsets=() if offsets is None else parse_offset_columns(_option_of(name, own_offsets), offsets),
        is_compacted=own[f"{name}_compacted"],
        **{part: own[f"{name}_{part}"] for part in ("key", "value", "time", "order", "where")},
    )
    arguments = parts.sides.SideArguments(
        given["left"] if name == "left" else given["right"],
        own[f"{name}_format"],
        parse_assignments(f"{name}-option", own[f"{name}_option"]),
        own[f"{name}_command_config"],
        own[f"{name}_topics"],
        columns,
    )
    return parts.sides.parse_side(name, arguments, storage_options(given["storage_attempts"]))


def _option_of(name: SideName, own_offsets: str | None) -> str:
    return "offset-columns" if own_offsets is None else f"{name}-offset-columns"
