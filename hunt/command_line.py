"""The command `fauxka hunt`."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from .errors import BadHuntOption, CannotHunt
from .event_id import ALLOWED, VALUE, check_event_id

if TYPE_CHECKING:
    from ..faults.rules.fault_rules import FaultRule
    from .hunt import Budget, Options, Result, Tried

EXIT_FOUND = 1
EXIT_CANNOT_HUNT = 3
OUTPUT = "fauxka-hunt"
BUDGET = "5m"
_UNITS = {"s": 1, "m": 60, "h": 3600}
_DURATION = re.compile(r"(\d+)([smh])")


class Given(NamedTuple):
    """The options that say how to hunt, as they were given."""

    topics: tuple[str, ...]
    event_id: str
    expect: str
    budget: str
    jobs: int
    timeout_seconds: float | None
    assignments: tuple[str, ...]
    seed_topics: tuple[str, ...]


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("topics", "--topic", required=True, multiple=True, help="Topic whose events are judged. Repeatable.")
@click.option(
    "--event-id", default=VALUE, show_default=True, metavar="ID", help=f"What identifies an event: {ALLOWED}."
)
@click.option(
    "--expect",
    type=click.Choice(["exactly-once", "at-least-once", "at-most-once"]),
    default="exactly-once",
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
@click.option(
    "seed_topics",
    "--seed-topic",
    multiple=True,
    metavar="NAME[:PARTITIONS]",
    help="Create this topic first. Repeatable.",
)
@click.option(
    "output",
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=OUTPUT,
    show_default=True,
    help="Folder of the rules, the test and the calls of each finding.",
)
@click.option("--replay", type=click.Path(), metavar="FILE", help="Run once with the fault rules in this file.")
@click.argument("words", metavar="COMMAND...", nargs=-1, required=True)
def hunt(words: tuple[str, ...], replay: str | None, output: Path, **given: Any) -> None:
    """Run COMMAND with every fault that it can meet, and report what breaks it.

    COMMAND reads the address of the broker from KAFKA_BOOTSTRAP_SERVERS or FAUXKA_BOOTSTRAP_SERVERS; {bootstrap} in its
    words is replaced by it. Exit code 0: nothing found; 1: found; 2: bad usage; 3: it fails or differs without a fault.
    """
    # The warnings of brokers that crash on purpose are nothing to read.
    logging.getLogger("fauxka").addHandler(logging.NullHandler())
    try:
        options = options_of(Given(**given))
        is_found = _replay(words, options, replay) if replay is not None else _hunt(words, options, output)
    except BadHuntOption as error:
        raise click.ClickException(str(error)) from error
    except CannotHunt as error:
        click.echo(f"fauxka: {' '.join(str(error).split())}", err=True)
        sys.exit(EXIT_CANNOT_HUNT)
    if is_found:
        sys.exit(EXIT_FOUND)


def options_of(given: Given) -> Options:
    """Return the options. Raises BadHuntOption."""
    from ..broker.config.config_sources import assignment_of
    from ..broker.config.config_types import ConfigError
    from .hunt import Options
    from .judgement import Promise
    from .run import Setting

    try:
        config = dict(assignment_of(assignment) for assignment in given.assignments)
    except ConfigError as error:
        raise BadHuntOption(f"-c: {error}") from error
    setting = Setting(given.topics, check_event_id(given.event_id), config, _partitions_of(given.seed_topics))
    return Options(setting, Promise(given.expect), budget_of(given.budget), given.jobs, given.timeout_seconds)


def budget_of(text: str) -> Budget:
    """Return the budget: a duration such as 90s, 5m or 1h, or a number of trials. Raises BadHuntOption."""
    from .hunt import Budget

    duration = _DURATION.fullmatch(text)
    if duration is not None and int(duration[1]):
        return Budget(seconds=int(duration[1]) * _UNITS[duration[2]])
    if text.isascii() and text.isdigit() and int(text):
        return Budget(trials=int(text))
    raise BadHuntOption(
        f"--budget: {text!r} is no budget; allowed: a duration such as 90s, 5m or 1h, or a number of trials"
    )


def _partitions_of(seed_topics: Sequence[str]) -> dict[str, int | None]:
    from ..broker.config.config_types import ConfigError
    from ..broker.lifecycle.cluster_reset import parse_seed_topic

    found: dict[str, int | None] = {}
    for text in seed_topics:
        try:
            topic = parse_seed_topic(text)
        except ConfigError as error:
            raise BadHuntOption(f"--seed-topic: {text!r} is no topic; allowed: NAME or NAME:PARTITIONS") from error
        found[topic.name] = topic.partition_count
    return found


def _hunt(words: Sequence[str], options: Options, output: Path) -> bool:
    """Hunt, write the findings and print the report; return whether there are findings."""
    # Lazy: no option that is refused needs a broker.
    from .hunt import hunt as hunt_program
    from .program import Command
    from .report_text import report_text

    try:
        result = hunt_program(Command(words), options, _show)
    except OSError as error:
        raise BadHuntOption(f"COMMAND: {words[0]!r} cannot be run: {error.strerror}; allowed: a program") from error
    click.echo(report_text(result, [str(place) for place in _write(words, options, output, result)]))
    return bool(result.findings)


def _write(words: Sequence[str], options: Options, output: Path, result: Result) -> list[Path]:
    from .reproduction import write_finding

    places = [output / str(number) for number in range(1, len(result.findings) + 1)]
    try:
        for place, finding in zip(places, result.findings, strict=True):
            write_finding(place, finding, words, options, result.timeout_seconds)
    except OSError as error:
        raise BadHuntOption(f"--output: {output} cannot be written: {error.strerror}; allowed: a folder") from error
    return places


def _replay(words: Sequence[str], options: Options, file: str) -> bool:
    """Run once without faults and once with the rules of a file, and print the judgement; return whether it broke."""
    from .hunt import learn, timeout_of
    from .judgement import judge
    from .program import Command
    from .run import run_once

    rules, program = _rules_in(file), Command(words)
    faultless = learn(program, options.setting)
    run = run_once(program, options.setting, rules, timeout_of(options, faultless))
    judgement = judge(run, faultless, options.promise)
    click.echo("\n".join([judgement.outcome.value, *(f"  {reason}" for reason in judgement.reasons)]))
    return judgement.is_finding


def _rules_in(file: str) -> list[FaultRule]:
    from ..admin.rule_file import RuleFileError, read_rule_file

    try:
        return read_rule_file(file)
    except RuleFileError as error:
        raise BadHuntOption(f"--replay: {error}") from error


def _show(tried: Tried, done: int, planned: int, found: int) -> None:
    """Tell a finding at once, and on a terminal how far the hunt is."""
    if tried.judgement.is_finding:
        click.echo(f"{tried.judgement.outcome.value}: {tried.trial}", err=True)
    if sys.stderr.isatty():
        click.echo(f"\r{done} of {planned} trials, {found} found ", nl=False, err=True)
