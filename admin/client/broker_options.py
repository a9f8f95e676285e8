"""The options that choose a running broker, and the output of the commands that call it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import click
from msgspec import Struct, to_builtins

from ... import FauxkaError
from .. import client as parts
from .admin_client import AdminClient, BadCall, Unreachable, find_admin_address

EXIT_UNREACHABLE = 1

Parameters = ParamSpec("Parameters")
AnyCommand = TypeVar("AnyCommand", bound=Callable[..., None])

JSON_OPTION = click.option("as_json", "--json", is_flag=True, help="Print the response of the admin API.")


def broker_options(command: AnyCommand) -> AnyCommand:
    """Add the options that choose a broker: admin, ready_file, admin_token and admin_ca."""
    options = (
        click.option(
            "--admin",
            metavar="URL",
            help="The broker with this admin API: http://HOST:PORT, or https.  [default: that of FAUXKA_ADMIN]",
        ),
        click.option("--ready-file", type=click.Path(), help="The broker that wrote this ready file."),
        click.option(
            "--admin-token", envvar="FAUXKA_ADMIN_TOKEN", metavar="TOKEN", help="Bearer token of the admin API."
        ),
        click.option(
            "--admin-ca",
            envvar="FAUXKA_ADMIN_CA",
            type=click.Path(),
            help="File with the authority of an admin API with HTTPS, such as ca.pem.  [default: those of the system]",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@contextmanager
def chosen_client(
    options: Mapping[str, str | None], *, exit_unreachable: int = EXIT_UNREACHABLE
) -> Generator[AdminClient]:
    """Yield the client of the broker that the options choose. Raises ClickException for invalid input.

    options: those of broker_options, by name. exit_unreachable: the exit code if the broker cannot be reached.
    """
    try:
        address = find_admin_address(options["admin"], options["ready_file"])
        yield AdminClient(address, options["admin_token"], options["admin_ca"])
    except (BadCall, FauxkaError) as error:
        raise click.ClickException(str(error)) from error
    except Unreachable as error:
        click.echo(f"fauxka: {' '.join(str(error).split())}", err=True)
        sys.exit(exit_unreachable)


def calls_broker(exit_unreachable: int = EXIT_UNREACHABLE) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the options that choose a broker; the command gets the broker as `broker`.

    exit_unreachable: see chosen_client.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def call(
            *,
            admin: str | None,
            ready_file: str | None,
            admin_token: str | None,
            admin_ca: str | None,
            **options: object,
        ) -> None:
            chosen = {"admin": admin, "ready_file": ready_file, "admin_token": admin_token, "admin_ca": admin_ca}
            with chosen_client(chosen, exit_unreachable=exit_unreachable) as client:
                command(broker=parts.http_broker.HttpBroker(client), **options)

        return broker_options(call)

    return decorate


def json_of(model: Struct) -> dict[str, Any]:
    """Return a model as the admin API has it in JSON."""
    fields: dict[str, Any] = to_builtins(model)
    return fields


def print_response(response: object, lines: Callable[[], Iterable[str]], *, as_json: bool) -> None:
    """Print a response as JSON or as lines. lines: returns them."""
    if as_json:
        print_json(response)
        return
    for line in lines():
        click.echo(line)


def print_json(response: object) -> None:
    """Print a response as JSON."""
    click.echo(json.dumps(response, indent=2, ensure_ascii=False))
