"""The option --command-config of the commands, as an option of the data source."""

from __future__ import annotations

import os

import click

from .bad_option import BadOption

# Of the data source; read/connection_options.py.
_OPTION = "commandConfig"

command_config = click.option(
    "--command-config", metavar="FILE", help="Properties of Kafka's clients, such as security.protocol, for brokers."
)


def command_config_option(file: str | None, name: str = "command-config") -> dict[str, str]:
    """Return the option of the data source; none without a file. name: of the option. Raises BadOption.

    The path is absolute, because Spark runs the data source in a process with another working directory.
    """
    if file is None:
        return {}
    if not os.path.isfile(file):
        raise BadOption(f"{name}: there is no file {file}")
    return {_OPTION: os.path.abspath(file)}
