"""The command `fauxka completion`, and the values with which a shell completes a word of a command.

Names of topics and rules are those of the running broker that the words choose. The user waits for them, so they come
within RESPONSE_SECONDS_MAX or not at all: without a broker, and after any error, there are none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import click
from click.shell_completion import CompletionItem, get_completion_class

from ...protocol.api_keys import APIS
from ...protocol.error_codes import ErrorCode
from .admin_client import PAGE_ITEMS, AdminClient, BadCall, Unreachable, find_admin_address

# A person notices a longer wait, and a running broker responds within milliseconds.
RESPONSE_SECONDS_MAX = 0.5

# The name of the program, and the variable that click derives of it: a shell sets it to get the words.
PROGRAM, VARIABLE = "fauxka", "_FAUXKA_COMPLETE"

Complete = Callable[[click.Context, click.Parameter, str], list[str]]


def topic_names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the topics of the running broker that begin with incomplete."""
    return _beginning(incomplete, (topic["name"] for topic in _items(ctx, "/v1/topics")))


def rule_names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the fault rules of the running broker that begin with incomplete.

    A rule whose name is more than a word is completed by its id: bash does not quote a word.
    """
    rules = [(str(rule["id"]), str(rule["name"] or "")) for rule in _items(ctx, "/v1/rules")]
    words = [CompletionItem(name if len(name.split()) == 1 else rule_id, help=name) for rule_id, name in rules]
    return [word for word in words if word.value.startswith(incomplete)]


def api_names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the APIs of Kafka that begin with incomplete."""
    return _beginning(incomplete, (api.name for api in APIS.values()))


def error_names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the errors of Kafka that begin with incomplete."""
    return _beginning(incomplete, (code.name for code in ErrorCode))


# How the values of parameters are completed, by name.
COMPLETIONS: dict[str, Complete] = {"topic": topic_names, "api": api_names, "error": error_names}


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script with which a shell completes commands, options and names.

    In bash: eval "$(fauxka completion bash)". Names of topics and rules are those of the running broker.
    """
    complete = get_completion_class(shell)
    assert complete is not None, "click completes in each of these shells"
    click.echo(complete(ctx.find_root().command, {}, PROGRAM, VARIABLE).source())


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _items(ctx: click.Context, path: str) -> list[Any]:
    """Return the first page of a list of the admin API; nothing without a broker."""
    chosen = ctx.params
    try:
        address = find_admin_address(chosen.get("admin"), chosen.get("ready_file"))
        client = AdminClient(address, chosen.get("admin_token"), chosen.get("admin_ca"))
        page = client.send("GET", path, None, {"limit": PAGE_ITEMS}, RESPONSE_SECONDS_MAX)
        items: list[Any] = json.loads(page)["items"]
    except (BadCall, Unreachable, ValueError, LookupError):
        return []
    return items
