"""The option --storage-attempts of the commands."""

from __future__ import annotations

import os

import click

# Of Amazon's clients; read/store_attempts.py reads it.
_VARIABLE = "AWS_MAX_ATTEMPTS"
# Of the data source.
_OPTION = "storageAttempts"

storage_attempts = click.option(
    "--storage-attempts",
    type=click.IntRange(min=1),
    metavar="COUNT",
    help=f"The attempts of each request to an object store.  [default: {_VARIABLE}, or 12]",
)


def storage_options(attempts: int | None) -> dict[str, str]:
    """Return the option of the data source, and set the variable for the other places of this process."""
    if attempts is None:
        return {}
    os.environ[_VARIABLE] = str(attempts)
    return {_OPTION: str(attempts)}
