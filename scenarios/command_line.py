"""The commands demo and scenario."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click

from .. import scenarios
from ..admin.client.text_width import terminal_width

# A scenario did not show its expected result.
EXIT_NOT_SEEN = 1


@click.group()
def commands() -> None:
    """Commands that run a scenario on a broker of their own."""


@commands.command()
def demo() -> None:
    """Lose one acknowledgement of a producer, and show what the broker does: no other package or program is needed."""
    _print_result(scenarios.demo.demo_text)


@commands.group()
def scenario() -> None:
    """Show how an idempotent producer and a broker handle faults."""


@scenario.command("list")
def list_scenarios() -> None:
    """List the scenarios, and the clients that this installation has."""
    click.echo(scenarios.scenario_list.list_text(terminal_width()))


def scenario_names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the scenarios that begin with incomplete, for a shell."""
    return [name for name in scenarios.all_scenarios.all_names() if name.startswith(incomplete)]


@scenario.command("run")
@click.argument("name", shell_complete=scenario_names)
@click.option(
    "--client",
    help="The producer: raw, confluent, aiokafka or kafka-python.  [default: raw, or Spark's own]",
)
@click.option("--as-version", metavar="VERSION", help="Kafka version that the broker follows.  [default: 4.4]")
@click.option("as_json", "--json", is_flag=True, help="Print timeline, verdict and checks as JSON.")
def run_scenario(name: str, client: str | None, as_version: str | None, as_json: bool) -> None:
    """Run a scenario on its own broker and print a diagram: exit code 0 if the expected result is seen, else 1."""
    try:
        _print_result(lambda: scenarios.command.run_text(name, client, as_version, as_json=as_json))
    except scenarios.command.CannotRun as error:
        raise click.ClickException(str(error)) from error


def _print_result(run: Callable[[], tuple[str, bool]]) -> None:
    """Print the text that run returns. The exit code is 1 if not all checks passed, or if it raises DidNotEnd."""
    try:
        text, passed = run()
    except scenarios.command.DidNotEnd as error:
        click.echo(f"fauxka: {' '.join(str(error).split())}", err=True)
        sys.exit(EXIT_NOT_SEEN)
    click.echo(text)
    if not passed:
        sys.exit(EXIT_NOT_SEEN)
