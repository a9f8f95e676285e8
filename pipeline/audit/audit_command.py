"""`audit`: find what a log lost, holds twice or in another order, and why.

Spark is imported when the command runs. Whatever cannot be done as asked is one line, and exit code 2.
"""

from __future__ import annotations

import sys

import click

from ..bad_option import BadOption
from ..option_time import milliseconds_of
from ..spark.spark_jars import installed_series
from ..spark.spark_settings import settings_of


@click.command()
@click.option("--path", metavar="PATH", help="Segment files: of a log folder, of a partition, or one file.")
@click.option("--bootstrap", metavar="HOST:PORT", help="The topics of a broker, up to where they end now.")
@click.option("--topics", metavar="NAME[,NAME]", help="Only these topics.  [default: all but internal ones]")
@click.option(
    "--event-id",
    metavar="key|header:NAME|json:$.PATH",
    help="What tells events apart; without it sequences are audited.",
)
@click.option(
    "--sent", metavar="PATH|topic://HOST:PORT/TOPIC", help="What was sent, as parquet, JSON lines or a topic of them."
)
@click.option(
    "--journal",
    metavar="URL|FILE",
    help="What a fauxka answered: the address of its admin API, or its journal as JSON.",
)
@click.option(
    "--journal-token", envvar="FAUXKA_ADMIN_TOKEN", metavar="TOKEN", help="The bearer token of its admin API."
)
@click.option(
    "--as-of",
    metavar="TIME",
    help="When an open transaction is one that hangs: 15 minutes before.  [default: now, or what a folder has last]",
)
@click.option("--master", metavar="URL", help="Spark's master.  [default: local[*]]")
@click.option("assignments", "-c", "--conf", multiple=True, metavar="KEY=VALUE", help="Set one of Spark's keys.")
@click.option("json_file", "--json", metavar="FILE", help="Write the verdict as JSON too; - prints it instead.")
@click.option("--parquet", metavar="FOLDER", help="Write all findings there, a new folder.")
@click.option("html", "--html", metavar="FILE", help="Write the verdict as a page with pictures.")
def audit(
    path: str | None,
    bootstrap: str | None,
    topics: str | None,
    event_id: str | None,
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
    """Find what a log lost, holds twice or in another order, and why.

    Exit code 0 if it is clean, 1 if there are findings, 2 if it could not be audited.
    """
    places = {"path": path, "bootstrap": bootstrap, "topics": topics}
    options = {name: place for name, place in places.items() if place is not None}
    try:
        installed_series()
        from ..audit_job import AuditRequest
        from .audit_run import AuditOrder, run_audit

        as_of_ms = None if as_of is None else milliseconds_of(as_of)
        request = AuditRequest(options, event_id, sent, journal, journal_token, as_of_ms)
        order = AuditOrder(request, master, settings_of(assignments), json_file, parquet, html)
        exit_code = run_audit(order, sys.stderr)
    except BadOption as error:
        raise click.ClickException(str(error)) from error
    sys.exit(exit_code)
