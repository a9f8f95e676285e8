"""Commands of the pipeline, for `fauxka` and for `python -m fauxka.pipeline`.

Each command imports Spark only when it runs. Invalid input prints one line and exits with code 2.
"""

from __future__ import annotations

from pathlib import Path

import click

from .audit_command import audit
from .bad_option import BadOption
from .cluster.spark_archive import ARCHIVE_NAME, write_archive
from .cluster.spark_jars import WAYS, fetch_jars
from .compare.compare_command import compare
from .dedup.dedup_command import dedup
from .records_command import records


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True)
def commands() -> None:
    """Spark jobs over the log of a broker."""


commands.add_command(audit)
commands.add_command(compare)
commands.add_command(dedup)
commands.add_command(records)


@commands.command("spark-jars")
@click.option(
    "--dest",
    "folder",
    type=click.Path(path_type=Path),
    help="Folder of the jars.  [default: ~/.cache/spark-kafka-jars/SERIES]",
)
@click.option("--via", type=click.Choice(sorted(WAYS)), help="Download with this tool.  [default: mvn, else ivy]")
def spark_jars(folder: Path | None, via: str | None) -> None:
    """Download the jars of Spark's format kafka for the installed pyspark, and print their folder."""
    try:
        fetched = fetch_jars(folder, [via] if via else ["mvn", "ivy"])
    except BadOption as error:
        raise click.ClickException(str(error)) from error
    click.echo(fetched[0].parent)


@commands.command("spark-archive")
@click.argument("file", type=click.Path(path_type=Path), default=ARCHIVE_NAME)
def spark_archive(file: Path) -> None:
    """Write this package to FILE for spark-submit --py-files, and print its name.

    The commands audit, compare and dedup send the package to the workers of a cluster without it.
    """
    if file.suffix != ".zip":
        raise click.ClickException(f"{file}: the name must end in .zip, because Spark imports only from such files")
    try:
        write_archive(file)
    except BadOption as error:
        raise click.ClickException(str(error)) from error
    click.echo(file)
