"""The command `fauxka completion`, and the values with which a shell completes a word of a command.

Names of topics and rules are those of the running broker that the words choose. The user waits for them, so they come
within RESPONSE_SECONDS_MAX or not at all: without a broker, and after any error, there are none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

import click
from click.shell_completion import CompletionItem, get_completion_class

from ...faults.rule_error import InvalidValueError
from ...protocol.api_keys import APIS
from ...protocol.error_codes import ErrorCode
from .. import client as parts
from ..errors import CallError
from .admin_client import AdminClient, BadCall, Unreachable, find_admin_address

if TYPE_CHECKING:
    from ..operations.rule_models import RuleInfo
    from .http_broker import HttpBroker

T = TypeVar("T")

# A person notices a longer wait, and a running broker responds within milliseconds.
RESPONSE_SECONDS_MAX = 0.5

# The name of the program, and the variable that click derives of it: a shell sets it to get the words.
PROGRAM, VARIABLE = "fauxka", "_FAUXKA_COMPLETE"

Complete = Callable[[click.Context, click.Parameter, str], list[str]]


def topic_names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the topics of the running broker that begin with incomplete."""
    return _beginning(incomplete, _from_broker(ctx, lambda broker: [topic.name for topic in broker.topics.list()]))


def rule_names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the fault rules of the running broker that begin with incomplete.

    A rule whose name is more than a word is completed by its id: bash does not quote a word.
    """
    rules: list[RuleInfo] = _from_broker(ctx, lambda broker: broker.faults.infos())
    words = [
        CompletionItem(rule.name if len(rule.name.split()) == 1 else str(rule.id), help=rule.name) for rule in rules
    ]
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


def _from_broker(ctx: click.Context, ask: Callable[[HttpBroker], list[T]]) -> list[T]:
    """Return what ask returns of the broker that the words choose; nothing without a broker."""
    chosen = ctx.params
    try:
        address = find_admin_address(chosen.get("admin"), chosen.get("ready_file"))
        token, ca = chosen.get("admin_token"), chosen.get("admin_ca")
        client = AdminClient(address, token, ca, seconds_max=RESPONSE_SECONDS_MAX)
        return ask(parts.http_broker.HttpBroker(client))
    except (BadCall, CallError, InvalidValueError, Unreachable):
        return []
