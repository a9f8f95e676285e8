"""The command `dedup`: write one copy of each event of a topic to parquet or another topic.

Spark is imported when the command runs. Invalid input prints one line and exits with code 2.
"""

from __future__ import annotations

import click

from .. import dedup as parts
from ..bad_option import BadOption
from ..cluster.spark_jars import installed_series
from ..cluster.spark_settings import parse_assignments
from ..command_config import command_config, command_config_option
from ..event_id_options import event_id_options
from ..schemas.schema_options import SchemaOptions
from ..storage_attempts import storage_attempts, storage_options

WINDOW_DEFAULT = "1 hour"
# Each partition costs a task and a few small files in every micro-batch.
STATE_PARTITIONS_DEFAULT = 4


@click.command()
@click.option("--from", "topic", required=True, metavar="TOPIC", help="The topic to read.")
@click.option("--bootstrap", metavar="HOST:PORT", help="Read the topic from this broker.")
@command_config
@click.option("--path", metavar="DIR|URI", help="Read the topic from segment files in this folder or URI.")
@click.option(
    "--to",
    required=True,
    metavar="TOPIC|PATH|URI",
    help="The topic to write, or a folder or URI for parquet files if it contains a /.",
)
@click.option("--to-bootstrap", metavar="HOST:PORT", help="The broker of the topic of --to.  [default: --bootstrap]")
@click.option(
    "--to-command-config",
    metavar="FILE",
    help="Properties for the broker of --to; of another cluster.  [default: --command-config]",
)
@event_id_options(is_required=True)
@click.option(
    "--within",
    "window",
    default=WINDOW_DEFAULT,
    show_default=True,
    metavar="TIME",
    help="How long a stream stores an event id after it was read.",
)
@click.option("--checkpoint", metavar="DIR", help="The checkpoint of a stream.  [default: inside a PATH, not a URI]")
@click.option("is_ending", "--available-now", is_flag=True, help="End the stream at the present end of the topic.")
@click.option("is_batch", "--batch", is_flag=True, help="Read the present topic once, without a checkpoint.")
@click.option("--why/--no-why", default=True, help="Read the topic once more and print the causes of the copies.")
@storage_attempts
@click.option("--master", metavar="URL", help="Spark's master.  [default: local[*]]")
@click.option("assignments", "-c", "--conf", multiple=True, metavar="KEY=VALUE", help="Set a Spark configuration key.")
@click.option(
    "--state-partitions",
    type=click.IntRange(min=1),
    default=STATE_PARTITIONS_DEFAULT,
    show_default=True,
    help="Partitions of the state of a stream; fixed by its first run.",
)
def dedup(
    topic: str,
    bootstrap: str | None,
    command_config: str | None,
    path: str | None,
    to: str,
    to_bootstrap: str | None,
    to_command_config: str | None,
    event_id: str,
    empty_id_is_an_id: bool,
    schemas: SchemaOptions,
    window: str,
    checkpoint: str | None,
    is_ending: bool,
    is_batch: bool,
    why: bool,
    storage_attempts: int | None,
    master: str | None,
    assignments: tuple[str, ...],
    state_partitions: int,
) -> None:
    """Write one copy of each event of a topic, and print how many copies were dropped and why.

    Runs as a stream until SIGINT or SIGTERM, and continues from its checkpoint at the next run. Delivery is exactly
    once to parquet and effectively once to a topic.
    """
    try:
        installed_series()
        source_config = command_config_option(command_config)
        storage = storage_options(storage_attempts)
        job = parts.dedup_job.DedupJob(
            source={**source_options(topic, bootstrap, path), **source_config, **storage},
            event_id=event_id,
            to=to,
            to_bootstrap=parts.dedup_run.broker_of(to, to_bootstrap or bootstrap),
            window=window,
            checkpoint=checkpoint,
            is_empty_an_id=empty_id_is_an_id,
            to_connection=command_config_option(to_command_config, "to-command-config") or source_config,
            schemas=schemas,
        )
        settings = parse_assignments("conf", assignments)
        if not is_batch:
            settings["spark.sql.shuffle.partitions"] = str(state_partitions)
        dedup_run = parts.dedup_run
        run = dedup_run.DedupRun(job, master, settings, is_batch=is_batch, is_endless=not is_ending, has_causes=why)
        dedup_run.run_dedup(run)
    except BadOption as error:
        raise click.ClickException(str(error)) from error


def source_options(topic: str, bootstrap: str | None, path: str | None) -> dict[str, str]:
    """Return the options of the data source. Raises BadOption unless exactly one source is set."""
    if (bootstrap is None) == (path is None):
        raise BadOption("set exactly one of --bootstrap (a broker's host:port) and --path (segment files)")
    # Records of aborted transactions are no events, and an open transaction may still be aborted.
    wanted = {"topics": topic, "isolationLevel": "read_committed"}
    return {**wanted, **({"bootstrap": bootstrap} if bootstrap is not None else {"path": path or ""})}
