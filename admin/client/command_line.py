"""The commands that call the admin API of a running broker: admin, completion, fault, journal, report, reset, verdict.

Exit codes: 0; 1 if the broker cannot be reached; 2 for invalid input, also if the broker found it. `verdict` returns 1
for findings, as `audit` does, and 2 without a verdict.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ... import admin
from ...faults.event_ids import ALLOWED
from ...protocol.similar_names import unknown_name
from .. import client as parts
from .admin_client import BadCall
from .broker_options import (
    JSON_OPTION,
    broker_options,
    calls_broker,
    chosen_client,
    json_of,
    print_json,
    print_response,
)
from .completion import api_names, completion, rule_names, topic_names
from .report_command import report
from .rule_text import rule_line, rule_lines

if TYPE_CHECKING:
    from ...faults.rules.fault_rules import FaultRule
    from .http_broker import HttpBroker

EXIT_FINDINGS = 1
EXIT_NO_VERDICT = 2


@click.group()
def commands() -> None:
    """Commands that call the admin API of a running broker."""


commands.add_command(completion)
commands.add_command(report)


@commands.command("admin")
@broker_options
def print_address(**broker: str | None) -> None:
    """Print the address of a running broker's admin API, for curl."""
    with chosen_client(broker) as client:
        click.echo(client.address.url)


@commands.group(no_args_is_help=True)
def fault() -> None:
    """Add, list and remove the fault rules of a running broker."""


class _Recipes(click.Group):
    """A command for each recipe; the recipes are imported when the first one is looked up."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the recipes."""
        return parts.recipe_commands.recipe_names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Return the command of a recipe. Raises UsageError for an unknown name."""
        recipe = parts.recipe_commands.find_recipe(cmd_name)
        if recipe is None:
            raise click.UsageError(unknown_name("recipe", cmd_name, parts.recipe_commands.recipe_names()))
        return parts.recipe_commands.recipe_command(recipe)


@fault.group("add", cls=_Recipes, invoke_without_command=True, subcommand_metavar="[RECIPE [ARGS]...]")
@click.option("rule", "--json", metavar="RULE", help="Add this rule, and print the response as JSON.")
@click.option("rule_file", "--file", type=click.Path(), help="Add the rules in this JSON or TOML file.")
@broker_options
@click.pass_context
def add_fault(ctx: click.Context, /, rule: str | None, rule_file: str | None, **broker: str | None) -> None:
    """Add fault rules: one by the name of a recipe, one as JSON, or those in a file.

    `fauxka fault add RECIPE --help` lists the options of a recipe.
    """
    if ctx.invoked_subcommand is not None:
        if any(ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE for name in ctx.params):
            raise click.UsageError(f"give the options after the recipe {ctx.invoked_subcommand}, and no other rule")
        return
    if (rule is None) == (rule_file is None):
        raise click.UsageError(
            f"give a recipe, --json or --file; recipes are {', '.join(add_fault.list_commands(ctx))}"
        )
    with chosen_client(broker) as client:
        faults = parts.http_broker.HttpBroker(client).faults
        if rule is not None:
            print_json(json_of(faults.add(admin.rule_file.decode_rule(rule)).last_info))
        elif rule_file is not None:
            # All are checked before the first one is added.
            for each in _rules_in(rule_file):
                click.echo(rule_line(json_of(faults.add(each).last_info)))


def _rules_in(path: str) -> list[FaultRule]:
    """Return the rules in a file. Raises BadCall."""
    try:
        return admin.rule_file.read_rule_file(path)
    except admin.rule_file.RuleFileError as error:
        raise BadCall(str(error)) from error


@fault.command("list")
@calls_broker()
@JSON_OPTION
def list_faults(broker: HttpBroker, *, as_json: bool) -> None:
    """List the fault rules in the order of matching, with their hits and why others did not match."""
    rules = [json_of(info) for info in broker.faults.infos()]
    lines = [line for rule in rules for line in rule_lines(rule)]
    print_response({"items": rules, "next": None}, lambda: lines or ["no fault rules"], as_json=as_json)


@fault.command("clear")
@click.argument("rules", metavar="[ID|NAME]...", nargs=-1, shell_complete=rule_names)
@calls_broker()
@JSON_OPTION
def clear_faults(broker: HttpBroker, rules: tuple[str, ...], *, as_json: bool) -> None:
    """Remove the fault rules with these ids or names, or all of them. Held and hanging requests stay so.

    If one of them does not exist, none is removed.
    """
    if rules:
        # A rule may be given by its id and by its name.
        found = {rule.id: rule for rule in [broker.faults.get(each) for each in rules]}
        for rule in found.values():
            rule.remove()
        removed = [json_of(rule.last_info) for rule in found.values()]
    else:
        removed = [json_of(info) for info in broker.faults.clear()]
    lines = [f"removed {rule_line(rule)}" for rule in removed]
    print_response({"items": removed, "next": None}, lambda: lines or ["no fault rules"], as_json=as_json)


@commands.command()
@click.argument("topic", required=False, shell_complete=topic_names)
@click.option("--group", help="Show what happened to the deliveries and commits of this consumer group instead.")
@click.option("--from", "source", metavar="TOPIC", help="Show what an application makes of this topic in --to instead.")
@click.option("--to", "target", metavar="TOPIC", help="The topic of its results. Needs --event-id.")
@click.option("--event-id", metavar="ID", help=f"The event id of a record: {ALLOWED}. Finds copies of any producer.")
@calls_broker(EXIT_NO_VERDICT)
@JSON_OPTION
def verdict(broker: HttpBroker, topic: str | None, *, as_json: bool, **of: str | None) -> None:
    """Show what happened to the batches of TOPIC: lost, duplicated and reordered ones; or to the records of a group.

    With --from and --to: which events an application that reads one topic and writes another has lost, doubled or
    reordered. --group is then the one by which it reads, for the reasons.
    Exit code 0 if the topic, group or application is clean, 1 if there are findings, 2 without a verdict. Records that
    retention or DeleteRecords deleted are listed, and the topic is clean.
    """
    judged, response = _judged(broker, topic, of)
    findings = parts.verdict_text.finding_count(response)
    found = "clean" if findings == 0 else f"{findings} findings" if findings > 1 else "1 finding"
    head = f"{judged}: {found}"
    width = parts.text_width.terminal_width()
    print_response(response, lambda: [head, *parts.verdict_text.verdict_lines(response, width)], as_json=as_json)
    if findings:
        sys.exit(EXIT_FINDINGS)


def _judged(broker: HttpBroker, topic: str | None, of: Mapping[str, str | None]) -> tuple[str, Mapping[str, Any]]:
    """Return the name of what is judged, and the verdict. Raises UsageError."""
    group, event_id = of["group"], of["event_id"]
    match topic, group, of["source"], of["target"], event_id:
        case str(), None, None, None, _:
            return topic, json_of(broker.verdict(topic, event_id))
        case None, str(), None, None, None:
            return f"group {group}", json_of(broker.verdict(group=group))
        case None, _, str() as source, str() as target, str():
            flow = broker.verdict(from_topic=source, to_topic=target, event_id=event_id, group=group)
            return f"{source} to {target}", json_of(flow)
        case _:
            ways = "a TOPIC, with or without --event-id; --group; or --from and --to with --event-id"
            raise click.UsageError(f"give either {ways}")


@commands.command()
@click.option("--api", help="Only requests of this API, such as Produce.", shell_complete=api_names)
@click.option("--topic", help="Only requests with this topic.", shell_complete=topic_names)
@click.option("--partition", type=click.IntRange(min=0), help="Only requests with this partition.")
@click.option("--node", type=click.IntRange(min=0), help="Only requests to this node.")
@click.option("--client-id", help="Only requests of this client id.")
@click.option("--group-id", help="Only requests of this group.")
@click.option("--transactional-id", help="Only requests of this transactional id.")
@click.option("--producer-id", type=int, help="Only requests of this producer id.")
@click.option("--error", metavar="NAME", help="Only requests with this error, also inside their response.")
@click.option("--since", metavar="ID", type=click.IntRange(min=0), help="Only requests with a greater id.")
@calls_broker()
@JSON_OPTION
def journal(broker: HttpBroker, *, as_json: bool, **conditions: Any) -> None:
    """List the requests that the broker received, oldest first, with the decision on each batch."""
    given = {name: value for name, value in conditions.items() if value is not None}
    entries = [json_of(entry) for entry in broker.journal.entries(**given)]
    dropped = broker.journal.dropped
    print_response(
        {"items": entries, "next": None, "dropped": dropped},
        lambda: parts.journal_text.journal_lines(entries, dropped),
        as_json=as_json,
    )


@commands.command()
@click.option("--scope", default="all", show_default=True, help="all, faults, journal or data.")
@calls_broker()
@JSON_OPTION
def reset(broker: HttpBroker, scope: Any, *, as_json: bool) -> None:
    """Reset a running broker: its fault rules, its journal and the data of its clients."""
    broker.reset(scope)
    print_response({"scope": scope}, lambda: [f"reset: {scope}"], as_json=as_json)
