"""The output of `fauxka scenario list`: the scenarios, and the clients that can run them on this installation."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from .all_scenarios import all_names, load_any, unsupported_clients
from .clients.clients import CLIENTS, INSTALL
from .scenario import Scenario
from .spark.installation import INSTALL as INSTALL_SPARK
from .spark.installation import find_missing_part
from .spark.job_scenario import JobScenario

_NAME_WIDTH = 28
_INDENT = " " * _NAME_WIDTH
_NO_BREAK = "\0"


def list_text(width: int) -> str:
    """Return the lines of each scenario, and a list of the clients. width: the longest line in columns."""
    installed = [name for name, client in CLIENTS.items() if client.is_installed]
    lines = [line for name in all_names() for line in _scenario_lines(load_any(name), installed, width)]
    return "\n".join([*lines, "", *_client_lines(installed, width)])


def _scenario_lines(scenario: Scenario | JobScenario, installed: list[str], width: int) -> Iterator[str]:
    yield from wrap(f"{scenario.name:{_NAME_WIDTH}}{scenario.title}", width, subsequent_indent=_INDENT)
    if isinstance(scenario, JobScenario):
        yield f"{_INDENT}needs Spark"
        return
    clients_of_reason: dict[str, list[str]] = {}
    for client, reason in unsupported_clients(scenario).items():
        if client in installed:
            clients_of_reason.setdefault(reason, []).append(client)
    for reason, clients in clients_of_reason.items():
        text = f"not with {', '.join(clients)}: {reason}"
        yield from wrap(text, width, initial_indent=_INDENT, subsequent_indent=_INDENT + "  ")


def _client_lines(installed: list[str], width: int) -> Iterator[str]:
    yield from wrap(f"clients: {', '.join(installed)}", width)
    missing = [name for name in CLIENTS if name not in installed]
    if missing:
        yield from _wrapped(f"not installed: {', '.join(missing)}; install them with {INSTALL}", width)
    missing_part = find_missing_part()
    if missing_part is not None:
        yield from _wrapped(f"without Spark: {missing_part}", width)


def _wrapped(text: str, width: int) -> Iterator[str]:
    """Yield the lines of a text, with commands in one piece."""
    for command in (INSTALL, INSTALL_SPARK):
        text = text.replace(command, command.replace(" ", _NO_BREAK))
    return (line.replace(_NO_BREAK, " ") for line in wrap(text, width))
