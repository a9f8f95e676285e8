"""The commands of the pipeline: their options, for `fauxka` and for `python -m fauxka.pipeline`.

Spark is imported by the command that needs it. Whatever is wrong with what was asked for is one line, and exit code 2.
"""

from __future__ import annotations

from pathlib import Path

import click

from .audit.audit_command import audit
from .bad_option import BadOption
from .dedup.dedup_command import dedup
from .spark.spark_archive import ARCHIVE_NAME, write_archive
from .spark.spark_jars import WAYS, fetch_jars


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True)
def commands() -> None:
    """Spark jobs over what a broker holds."""


commands.add_command(dedup)


@commands.command("spark-jars")
@click.option(
    "--dest", "folder", type=click.Path(path_type=Path), help="Folder.  [default: ~/.cache/spark-kafka-jars/SERIES]"
)
@click.option("--via", type=click.Choice(sorted(WAYS)), help="Only this way.  [default: mvn, else ivy]")
def spark_jars(folder: Path | None, via: str | None) -> None:
    """Bring the jars of Spark's format kafka, for the installed pyspark, and print their folder."""
    try:
        fetched = fetch_jars(folder, [via] if via else ["mvn", "ivy"])
    except BadOption as error:
        raise click.ClickException(str(error)) from error
    click.echo(fetched[0].parent)


@commands.command("spark-archive")
@click.argument("file", type=click.Path(path_type=Path), default=ARCHIVE_NAME)
def spark_archive(file: Path) -> None:
    """Write this package as one file for spark-submit --py-files, and print its name.

    The commands here send it to the workers of a cluster by themselves.
    """
    if file.suffix != ".zip":
        raise click.ClickException(f"{file}: Spark imports from a name that ends in .zip")
    try:
        write_archive(file)
    except BadOption as error:
        raise click.ClickException(str(error)) from error
    click.echo(file)


commands.add_command(audit)
