"""The command `audit`: find lost, duplicated and reordered records of a log, and their causes.

Spark is imported when the command runs. Invalid input prints one line and exits with code 2.
"""

from __future__ import annotations

import sys

import click

from .bad_option import BadOption
from .cluster.spark_jars import installed_series
from .cluster.spark_settings import parse_assignments
from .command_config import command_config_option
from .event_id_options import event_id_options
from .option_time import milliseconds_of
from .schemas.schema_options import SchemaOptions


@click.command()
@click.option("--path", metavar="PATH|URI", help="Read segment files: a log folder, a partition's folder or one file.")
@click.option("--bootstrap", metavar="HOST:PORT", help="Read topics of a broker, up to their present ends.")
@click.option(
    "--command-config", metavar="FILE", help="Properties of Kafka's clients, such as security.protocol, for brokers."
)
@click.option("--topics", metavar="NAME[,NAME]", help="Read only these topics.  [default: all but internal ones]")
@event_id_options(is_required=False)
@click.option(
    "--sent",
    metavar="PATH|URI|topic://HOST:PORT/TOPIC",
    help="The ledger of sent events: parquet, JSON lines, or a topic of JSON values.",
)
@click.option(
    "--journal",
    metavar="URL|FILE",
    help="The journal of a fauxka: the address of its admin API, or a JSON file.",
)
@click.option(
    "--journal-token", envvar="FAUXKA_ADMIN_TOKEN", metavar="TOKEN", help="The bearer token of the admin API."
)
@click.option(
    "--as-of",
    metavar="TIME",
    help="The time of the audit, by which an open transaction has timed out or not."
    "  [default: now, or the newest timestamp of a folder]",
)
@click.option("--master", metavar="URL", help="Spark's master.  [default: local[*]]")
@click.option("assignments", "-c", "--conf", multiple=True, metavar="KEY=VALUE", help="Set a Spark configuration key.")
@click.option("json_file", "--json", metavar="FILE", help="Also write the verdict as JSON; - prints it instead.")
@click.option("--parquet", metavar="FOLDER", help="Write all findings to this new folder.")
@click.option("html", "--html", metavar="FILE", help="Write the verdict as an HTML page with pictures.")
def audit(
    path: str | None,
    bootstrap: str | None,
    command_config: str | None,
    topics: str | None,
    event_id: str | None,
    empty_id_is_an_id: bool,
    schemas: SchemaOptions,
    sent: str | None,
    journal: str | None,
    journal_token: str | None,
    as_of: str | None,
    master: str | None,
    assignments: tuple[str, ...],
    json_file: str | None,
    parquet: str | None,
    html: str | None,
) -> None:
    """Find lost, duplicated and reordered records of a log, and their causes.

    Exit code 0 if the log is clean, 1 if there are findings, 2 if the audit failed.
    """
    places = {"path": path, "bootstrap": bootstrap, "topics": topics}
    options = {name: place for name, place in places.items() if place is not None}
    try:
        options |= command_config_option(command_config)
        installed_series()
        # Spark takes a second to import, and may be missing.
        from .audit_run import AuditRun, run_audit
        from .checks.audit_job import AuditRequest

        as_of_ms = None if as_of is None else milliseconds_of(as_of)
        request = AuditRequest(
            options,
            event_id,
            sent,
            journal,
            journal_token,
            as_of_ms,
            is_empty_an_id=empty_id_is_an_id,
            schemas=schemas,
        )
        audit_run = AuditRun(request, master, parse_assignments("conf", assignments), json_file, parquet, html)
        exit_code = run_audit(audit_run, sys.stderr)
    except BadOption as error:
        raise click.ClickException(str(error)) from error
    sys.exit(exit_code)
