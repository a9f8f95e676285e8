"""`python -m fauxka.pipeline`: the commands of the pipeline, for when `fauxka` is not in PATH."""

from __future__ import annotations

import signal
import sys
from typing import NoReturn

import click

from .command_line import commands
from .repeated_command import message_without_secrets

EXIT_USAGE = 2
# 128 + SIGINT and 128 + SIGTERM, as shells report them.
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143


def main() -> None:
    """Run the command of the command line and exit with its code."""
    # A command deletes its temporary files at its end.
    signal.signal(signal.SIGTERM, exit_terminated)
    try:
        commands.main(prog_name="python -m fauxka.pipeline", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(EXIT_USAGE)
    except click.ClickException as error:
        click.echo(f"fauxka: {message_without_secrets(' '.join(error.format_message().split()))}", err=True)
        sys.exit(EXIT_USAGE)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(EXIT_INTERRUPTED)


def exit_terminated(number: int, frame: object) -> NoReturn:
    """Exit, as the handler of SIGTERM."""
    sys.exit(EXIT_TERMINATED)


if __name__ == "__main__":
    main()
