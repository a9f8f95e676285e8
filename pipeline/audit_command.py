"""The command `audit`: find lost, duplicated and reordered records of a log, and their causes.

Spark is imported when the command runs. Invalid input prints one line and exits with code 2.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from typing import Literal, Unpack

import click

from . import checks
from .command_config import command_config, command_config_option
from .event_id_options import event_id_options
from .option_time import duration_ms, milliseconds_of
from .schemas.schema_options import SchemaOptions
from .storage_attempts import storage_options
from .verdict_command import VerdictArguments, end_with, verdict_options, verdict_run

# The options of the data source that are options of the command.
_PLACES: tuple[Literal["path", "tier", "bootstrap", "topics"], ...] = ("path", "tier", "bootstrap", "topics")


class AuditArguments(VerdictArguments):
    """The options of the command by their names in Python."""

    path: str | None
    tier: str | None
    bootstrap: str | None
    command_config: str | None
    topics: str | None
    replicas: tuple[str, ...]
    groups: str | None
    version_field: str | None
    event_time_field: str | None
    late_after: str | None
    event_id: str | None
    empty_id_is_an_id: bool
    schemas: SchemaOptions
    sent: str | None
    journal: str | None
    journal_token: str | None
    as_of: str | None
    since: str | None
    until: str | None
    offsets_out: str | None
    by_partition: str | None


@click.command()
@click.option("--path", metavar="PATH|URI", help="Read segment files: a log folder, a partition's folder or one file.")
@click.option("--tier", metavar="PATH|URI", help="Read also the remote tier of the log at --path.")
@click.option("--bootstrap", metavar="HOST:PORT", help="Read topics of a broker, up to their present ends.")
@command_config
@click.option("--topics", metavar="NAME[,NAME]", help="Read only these topics.  [default: all but internal ones]")
@click.option(
    "replicas",
    "--replica",
    multiple=True,
    metavar="PATH|URI",
    help="Compare --path with another broker's log folder, whose partitions are replicas of it.",
)
@click.option(
    "--groups",
    metavar="GROUP[,GROUP]|all",
    help="Audit the committed offsets of consumer groups, and the history of their commits.",
)
@click.option(
    "--version-field",
    metavar="key|header:NAME|json:$.PATH",
    help="The version of a record: the versions of a key must not go back.",
)
@click.option(
    "--event-time-field",
    metavar="key|header:NAME|json:$.PATH",
    help="The time of a record's event: milliseconds since 1970, or ISO 8601. Shows how late records are.",
)
@click.option(
    "--late-after", metavar="DURATION", help="Report records that are later than their event time by more, such as 5m."
)
@event_id_options(is_required=False, more=" Without it only sequences are audited.")
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
@click.option(
    "--since",
    metavar="TIME|FILE",
    help="Audit only records from this time on, such as 24h ago, or from the offsets in a file.",
)
@click.option("--until", metavar="TIME|FILE", help="Audit only records before this time, or the offsets in a file.")
@click.option("--offsets-out", metavar="FILE", help="Write the ends of this audit, for --since of the next one.")
@click.option(
    "--by-partition",
    metavar="FOLDER|URI",
    help="Audit one partition after another, and go on where an earlier run ended.",
)
@verdict_options("audit")
def audit(**given: Unpack[AuditArguments]) -> None:
    """Find lost, duplicated and reordered records of a log, and their causes.

    Exit code 0 if the log is clean, 1 if there are findings (see --baseline and --fail-on), 2 if the audit failed.
    """
    end_with(partial(_run, given))


def _run(given: AuditArguments) -> int:
    """Run the audit and return its exit code. Raises BadOption."""
    # Spark takes a second to import, and may be missing.
    from .audit_partitions import run_partitions
    from .audit_run import AuditRun, run_audit

    now_ms = round(time.time() * 1000)
    since, until, as_of = given["since"], given["until"], given["as_of"]
    options: dict[str, str] = {name: place for name in _PLACES if (place := given[name]) is not None}
    options |= command_config_option(given["command_config"])
    options |= storage_options(given["storage_attempts"])
    options |= checks.range_options.range_options(since, until, now_ms)
    if given["offsets_out"] is not None and until is None:
        # Files that grow are read only up to the ends that are written.
        options["endingOffsets"] = "latest"
    request = checks.audit_job.AuditRequest(
        options,
        given["event_id"],
        given["sent"],
        given["journal"],
        given["journal_token"],
        as_of_ms=None if as_of is None else milliseconds_of("as-of", as_of, now_ms),
        is_empty_an_id=given["empty_id_is_an_id"],
        schemas=given["schemas"],
        replicas=given["replicas"],
        groups=given["groups"],
        version_field=given["version_field"],
        event_time_field=given["event_time_field"],
        late_after_ms=None if given["late_after"] is None else duration_ms("late-after", given["late_after"]),
    )
    is_first = checks.range_options.is_first_run(since, now_ms)
    notes = (f"{since} does not exist: audited from the beginning",) if is_first else ()
    audit_run = AuditRun(request, verdict_run(given, given["offsets_out"]), notes)
    if given["by_partition"] is None:
        return run_audit(audit_run, sys.stderr)
    return run_partitions(audit_run, given["by_partition"], sys.stderr)
