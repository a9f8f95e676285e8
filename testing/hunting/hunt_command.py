"""What the command `fauxka hunt` does with its options: hunt or replay, print the report, write the findings."""

from __future__ import annotations

import os
import shlex
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, NamedTuple

import click

from ...admin.methods.rule_text import json_of
from ...admin.rule_file import RuleFileError, read_rule_file
from ...broker.config.config_sources import assignment_of
from ...broker.config.config_types import ConfigError
from ...broker.lifecycle.cluster_reset import parse_seed_topic
from .arguments import configuration_of
from .budget import budget_of
from .earlier import read_state, write_state
from .errors import BadHuntOption
from .event_id import check_event_id
from .fault_choice import choice_of
from .hunt_program import hunt_program
from .options import Options
from .program import CheckCommand, Command, PrepareCommand, starting
from .progress_line import ProgressLine
from .promise import promise_of
from .replay import replayed
from .report import report_text
from .report_files import json_text, junit_text
from .report_html import replay_html
from .run import NO_GROUPS, Setting
from .writing import folders_of, write_page, write_result

if TYPE_CHECKING:
    from ...faults.rules.fault_rules import FaultRule
    from .result import Result

REPLAY_PAGE = "replay.html"


class Given(NamedTuple):
    """The options that say how to hunt, as they were given. is_continued: whether to go on where another has ended."""

    topics: tuple[str, ...]
    groups: tuple[str, ...]
    is_processed: bool
    event_id: str
    expect: str
    budget: str
    jobs: int
    timeout_seconds: float | None
    assignments: tuple[str, ...]
    seed_topics: tuple[str, ...]
    prepare: str | None
    check: str | None
    restarts: int
    pairs: int | None
    seed: int
    nodes: int
    include: tuple[str, ...]
    only: tuple[str, ...]
    skip: tuple[str, ...]
    is_first_wanted: bool
    is_continued: bool


class Outputs(NamedTuple):
    """Where the result is written: the folder of the findings, and files for CI; None for none."""

    folder: Path
    json_file: Path | None
    junit: Path | None


def run(words: Sequence[str], given: Given, outputs: Outputs, rule_file: str | None) -> bool:
    """Hunt, or run once with the rules in rule_file, and return whether something broke. words: the command.

    Raises BadHuntOption and CannotHunt.
    """
    options = options_of(given)
    if rule_file is None:
        return _hunt(words, options, outputs, is_continued=given.is_continued)
    if outputs.json_file is not None or outputs.junit is not None:
        raise BadHuntOption(f"{'--junit' if outputs.json_file is None else '--json'}: not with --replay")
    return _replay(words, options, rule_file, outputs)


def options_of(given: Given) -> Options:
    """Return the options. Raises BadHuntOption."""
    if not given.topics and not given.groups and given.check is None:
        raise BadHuntOption("--topic: missing; allowed: a topic whose events are judged, --group NAME or --check CMD")
    if given.is_processed and not given.groups:
        raise BadHuntOption(f"--processed: {NO_GROUPS}")
    try:
        config = dict(assignment_of(assignment) for assignment in given.assignments)
        broker = configuration_of(config, given.nodes)
    except ConfigError as error:
        raise BadHuntOption(f"-c: {error}") from error
    setting = Setting(
        topics=given.topics,
        groups=given.groups,
        is_processed=given.is_processed,
        event_id=check_event_id(given.event_id),
        broker=broker,
        seed_topics=_partitions_of(given.seed_topics),
        prepare=None if given.prepare is None else PrepareCommand(_words_of("--prepare", given.prepare)),
        check=None if given.check is None else CheckCommand(_words_of("--check", given.check)),
        restarts=given.restarts,
    )
    budget, promise = budget_of(given.budget), promise_of(given.expect)
    return Options(
        setting,
        promise,
        budget,
        given.jobs,
        given.timeout_seconds,
        given.pairs,
        given.seed,
        choice_of(given.include, given.only, given.skip),
        given.is_first_wanted,
    )


def _words_of(option: str, text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise BadHuntOption(f"{option}: {text!r} has {str(error).lower()}; allowed: a command line") from error
    if not words:
        raise BadHuntOption(f"{option}: {text!r} is no command; allowed: a command line")
    return words


def _partitions_of(seed_topics: Sequence[str]) -> dict[str, int | None]:
    found: dict[str, int | None] = {}
    for text in seed_topics:
        try:
            topic = parse_seed_topic(text)
        except ConfigError as error:
            raise BadHuntOption(f"--seed-topic: {text!r} is no topic; allowed: NAME or NAME:PARTITIONS") from error
        found[topic.name] = topic.partition_count
    return found


def _hunt(words: Sequence[str], options: Options, outputs: Outputs, *, is_continued: bool) -> bool:
    """Hunt, print the report and write the findings; return whether there are findings."""
    _check_outputs(outputs)
    earlier = read_state(outputs.folder, options.seed) if is_continued else None
    line = ProgressLine()
    with starting("COMMAND"), line.shown():
        result = hunt_program(Command(words), options, line.show, earlier)
    # First, because what follows can fail.
    click.echo(report_text(result, [str(folder) for folder in folders_of(result, outputs.folder)]))
    _write_for_ci(outputs, result)
    with _writing("--output"):
        write_result(outputs.folder, result)
        write_state(outputs.folder, result)
    return bool(result.findings)


def _check_outputs(outputs: Outputs) -> None:
    """Raise BadHuntOption for what cannot be written: a hunt takes minutes. What is there stays until its end."""
    with _writing("--output"):
        outputs.folder.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=outputs.folder).close()
    for option, file in (("--json", outputs.json_file), ("--junit", outputs.junit)):
        if file is not None:
            with _writing(option):
                is_new = not os.path.lexists(file)
                file.open("a").close()
                if is_new:
                    file.unlink()


@contextmanager
def _writing(option: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise BadHuntOption(f"{option}: {error.filename} cannot be written: {error.strerror}") from error


def _write_for_ci(outputs: Outputs, result: Result) -> None:
    if outputs.json_file is not None:
        with _writing("--json"):
            outputs.json_file.write_text(json_text(result), "utf-8")
    if outputs.junit is not None:
        with _writing("--junit"):
            outputs.junit.write_text(junit_text(result), "utf-8")


def _replay(words: Sequence[str], options: Options, rule_file: str, outputs: Outputs) -> bool:
    """Run once without faults and once with the rules of a file, and report it; return whether it broke."""
    rules, program = _rules_in(rule_file), Command(words)
    _check_outputs(outputs)
    with starting("COMMAND"):
        judgement, timeline = replayed(program, options, rules)
    page = outputs.folder / REPLAY_PAGE
    lines = [*judgement.reasons, str(page), *(["output:"] if judgement.evidence.output else [])]
    click.echo("\n".join([judgement.outcome.value, *(f"   {line}" for line in lines)]))
    if judgement.evidence.output:
        click.echo(judgement.evidence.output)
    with _writing("--output"):
        write_page(page, replay_html(program, judgement, [json_of(rule) for rule in rules], timeline))
    return judgement.is_finding


def _rules_in(file: str) -> list[FaultRule]:
    try:
        return read_rule_file(file)
    except RuleFileError as error:
        raise BadHuntOption(f"--replay: {error}") from error
