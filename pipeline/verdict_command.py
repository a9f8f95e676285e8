"""Options and the end of the commands whose result is a verdict: audit and compare.

Spark is imported when a command runs. Invalid input prints one line and exits with code 2.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn, TypedDict

import click

from . import checks, report
from .bad_option import BadOption
from .cluster.spark_jars import installed_series
from .cluster.spark_settings import parse_assignments
from .repeated_command import repeated_words
from .storage_attempts import storage_attempts

if TYPE_CHECKING:
    from .report.verdict_run import VerdictRun

_EXIT_FAILED = 2


class VerdictArguments(TypedDict):
    """The options of verdict_options by their names in Python."""

    baseline_place: str | None
    fail_on: str | None
    storage_attempts: int | None
    master: str | None
    assignments: tuple[str, ...]
    json_file: str | None
    junit: str | None
    parquet: str | None
    html: str | None


def verdict_options(earlier: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds the options of a verdict, its outputs and its session.

    earlier: what the run of a baseline was, such as audit.
    """
    baseline = f"Fail only on findings that an earlier {earlier} (its --json or --parquet) does not have."
    json_help = "Also write the verdict as JSON; - prints it instead."
    conf_help = "Set a Spark configuration key."
    options = (
        click.option("baseline_place", "--baseline", metavar="FILE|FOLDER", help=baseline),
        click.option(
            "--fail-on", metavar="KIND[,KIND]|none", help="Fail only on findings of these kinds.  [default: all faults]"
        ),
        storage_attempts,
        click.option("--master", metavar="URL", help="Spark's master.  [default: local[*]]"),
        click.option("assignments", "-c", "--conf", multiple=True, metavar="KEY=VALUE", help=conf_help),
        click.option("json_file", "--json", metavar="FILE", help=json_help),
        click.option("--junit", metavar="FILE", help="Also write the verdict as JUnit XML; - prints it instead."),
        click.option("--parquet", metavar="FOLDER", help="Write all findings to this new folder."),
        click.option("--html", metavar="FILE", help="Write the verdict as an HTML page with pictures."),
    )

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def verdict_run(given: VerdictArguments, offsets_out: str | None = None) -> VerdictRun:
    """Return the options of the running command. offsets_out: see AuditOutputs.offsets. Raises BadOption."""
    baseline, fail_on = given["baseline_place"], given["fail_on"]
    return report.verdict_run.VerdictRun(
        given["master"],
        parse_assignments("conf", given["assignments"]),
        report.audit_outputs.AuditOutputs(
            given["json_file"], given["parquet"], given["html"], given["junit"], offsets_out
        ),
        None if fail_on is None else tuple(sorted(checks.finding_kinds.parse_fail_on(fail_on))),
        None if baseline is None else checks.baseline.read_baseline(baseline),
        repeated_words(click.get_current_context()),
    )


def end_with(run: Callable[[], int]) -> NoReturn:
    """Exit with the code that run returns; 2 if it fails."""
    try:
        installed_series()
        exit_code = run()
    except BadOption as error:
        raise click.ClickException(str(error)) from error
    except Exception:
        # A defect of this program: Python's exit code for it is 1, which means findings.
        traceback.print_exc()
        exit_code = _EXIT_FAILED
    sys.exit(exit_code)
