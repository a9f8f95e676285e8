"""The command `fauxka hunt`."""

from __future__ import annotations

import logging
import signal
import sys
from pathlib import Path
from typing import Any

import click

from ...faults.event_ids import ALLOWED, VALUE
from ...faults.hunted_faults import REQUESTED_ORIGINS
from .. import hunting
from .errors import BadHuntOption, CannotHunt
from .promise import PROMISES

EXIT_FOUND = 1
EXIT_CANNOT_HUNT = 3
OUTPUT = "fauxka-hunt"
BUDGET = "5m"


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("topics", "--topic", multiple=True, help="Topic whose events are judged. Repeatable.")
@click.option("groups", "--group", multiple=True, help="Group whose deliveries and commits are judged. Repeatable.")
@click.option(
    "is_processed",
    "--processed",
    is_flag=True,
    help="COMMAND reports what it processes, by POST $FAUXKA_ADMIN/v1/processed: judge the groups by that.",
)
@click.option(
    "--event-id", default=VALUE, show_default=True, metavar="ID", help=f"What identifies an event: {ALLOWED}."
)
@click.option(
    "--expect",
    type=click.Choice(PROMISES),
    default=PROMISES[0],
    show_default=True,
    help="What the program promises of each event.",
)
@click.option("--budget", default=BUDGET, show_default=True, metavar="5m|300", help="Time or number of trials.")
@click.option("--jobs", type=click.IntRange(1, 64), default=1, show_default=True, help="Runs at a time.")
@click.option(
    "timeout_seconds",
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    help="Seconds after which a run is ended.  [default: 5 times the run without faults, at least 10]",
)
@click.option(
    "assignments", "-c", "--set", multiple=True, metavar="KEY=VALUE", help="Set a key of the brokers. Repeatable."
)
@click.option("--nodes", type=click.IntRange(1, 16), default=1, show_default=True, help="Nodes of each broker.")
@click.option(
    "seed_topics",
    "--seed-topic",
    multiple=True,
    metavar="NAME[:PARTITIONS]",
    help="Create this topic first. Repeatable.",
)
@click.option("--prepare", metavar="CMD", help="Run this first, without faults.")
@click.option("--check", metavar="CMD", help="Run this after COMMAND has ended well; it fails if the result is wrong.")
@click.option(
    "--restarts",
    type=click.IntRange(0, 100),
    default=0,
    show_default=True,
    help="How often COMMAND is started again after it has failed, without more faults.",
)
@click.option("--pairs", type=click.IntRange(0), help="Most pairs of faults.  [default: as many as there are faults]")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the choice of pairs.")
@click.option(
    "--include",
    multiple=True,
    type=click.Choice([origin.value for origin in REQUESTED_ORIGINS]),
    help="Also try faults of a proxy, or of a defective broker. Repeatable.",
)
@click.option("--only", multiple=True, metavar="FAULT", help="Try this fault only. Repeatable.")
@click.option("--skip", multiple=True, metavar="FAULT", help="Do not try this fault. Repeatable.")
@click.option("is_first_wanted", "--first", is_flag=True, help="End with the first finding that is confirmed.")
@click.option("is_continued", "--continue", is_flag=True, help="Go on where the hunt in the folder of -o has ended.")
@click.option(
    "folder",
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=OUTPUT,
    show_default=True,
    help="Folder of the rules, the test and the calls of each finding.",
)
@click.option(
    "json_file", "--json", type=click.Path(path_type=Path), metavar="FILE", help="Also write the result as JSON."
)
@click.option("--junit", type=click.Path(path_type=Path), metavar="FILE", help="Also write it as JUnit XML.")
@click.option("--replay", type=click.Path(), metavar="FILE", help="Run once with the fault rules in this file.")
@click.argument("words", metavar="COMMAND...", nargs=-1, required=True)
def hunt(
    words: tuple[str, ...],
    replay: str | None,
    folder: Path,
    json_file: Path | None,
    junit: Path | None,
    **given: Any,
) -> None:
    """Run COMMAND with every fault that it can meet, and report what breaks it.

    COMMAND reads the address of the broker from KAFKA_BOOTSTRAP_SERVERS or FAUXKA_BOOTSTRAP_SERVERS; {bootstrap} in its
    words is replaced by it. Exit code 0: nothing found; 1: found; 2: bad usage; 3: it fails or differs without a fault.
    """
    # The warnings of brokers that crash on purpose are nothing to read.
    logging.getLogger("fauxka").addHandler(logging.NullHandler())
    # CI ends a job that takes too long by SIGTERM: the programs must not go on without the hunt.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        command = hunting.hunt_command
        outputs = command.Outputs(folder, json_file, junit)
        is_found = command.run(words, command.Given(**given), outputs, replay)
    except BadHuntOption as error:
        raise click.ClickException(str(error)) from error
    except CannotHunt as error:
        click.echo(f"fauxka: {' '.join(str(error).split())}", err=True)
        sys.exit(EXIT_CANNOT_HUNT)
    if is_found:
        sys.exit(EXIT_FOUND)
