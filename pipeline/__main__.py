"""`python -m fauxka.pipeline`: the commands of the pipeline, where there is no `fauxka` in PATH."""

from __future__ import annotations

import sys

import click

from .command_line import commands

EXIT_USAGE = 2
# As shells report a process that ended by SIGINT.
EXIT_INTERRUPTED = 130


def main() -> None:
    """Run a command, and exit."""
    try:
        commands.main(prog_name="python -m fauxka.pipeline", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(EXIT_USAGE)
    except click.ClickException as error:
        click.echo(f"fauxka: {' '.join(error.format_message().split())}", err=True)
        sys.exit(EXIT_USAGE)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    main()
