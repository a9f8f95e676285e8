"""The audit of one partition after another (--by-partition), for a log of which a job may not reach the end.

- The verdict on a partition is written when the partition has been audited, and never again. The same command goes on
  with the partitions that have none.
- A partition is audited by itself: an event and its copy in another partition are not compared.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

from pyspark.sql import SparkSession

from ..storage.log_files import PartitionName, partition_folder
from .audit_run import EXIT_CLEAN, EXIT_FINDINGS, AuditRun, audited_summary, log_topics, session_of
from .bad_option import BadOption
from .checks.audit_job import check_request
from .read.file_store import LOCAL_FILES
from .read.options import parse_options
from .read.stored_listing import segments_of, with_listing, with_partition
from .read.stores import Store, store_of
from .report.audit_outputs import AuditOutputs
from .report.verdict_text import last_line

_OPTION = "by-partition"


@dataclass(frozen=True, slots=True)
class _Verdicts:
    """The folder of the verdicts, a file for each partition."""

    store: Store
    folder: str

    def path_of(self, name: PartitionName) -> str:
        """Return the path of a verdict."""
        return f"{self.folder}/{partition_folder(*name)}.json"

    def read(self, names: list[PartitionName], run: AuditRun) -> dict[PartitionName, bool]:
        """Return the partitions with a verdict, and whether it has findings that make the audit fail.

        Raises BadOption for the verdict of another audit.
        """
        found: dict[PartitionName, bool] = {}
        try:
            listing = self.store.list_files(self.folder)
            for name in names:
                path = self.path_of(name)
                if not listing.is_file(path):
                    continue
                verdict = json.loads(self.store.read(path))
                if (verdict["log"], verdict["checks"]) != (run.request.options["path"], [*run.request.checks]):
                    raise BadOption(f"{_OPTION}: {path} is the verdict of another audit; set a new folder")
                found[name] = verdict["is_failed"]
        except OSError as error:
            raise BadOption(f"{_OPTION}: {error.filename} cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise BadOption(f"{_OPTION}: {self.folder} has a file that is no verdict") from error
        return found


def run_partitions(run: AuditRun, folder: str, stderr: TextIO) -> int:
    """Audit the partitions of a path that have no verdict in a folder, and return the exit code of all of them.

    Prints one line for each. Raises BadOption; its message says how many partitions have a verdict.
    """
    if "path" not in run.request.options:
        raise BadOption(f"{_OPTION}: needs --path; a broker is audited as a whole")
    if run.request.sent is not None or run.request.journal is not None:
        raise BadOption(
            f"{_OPTION}: cannot be combined with --sent and --journal, whose events may be of any partition"
        )
    if run.outputs != AuditOutputs():
        raise BadOption(f"{_OPTION}: writes a verdict for each partition, so no other output can be set")
    store, place = store_of(_OPTION, folder)
    if store == LOCAL_FILES:
        Path(place).mkdir(parents=True, exist_ok=True)
    verdicts = _Verdicts(store, place)
    options = with_listing(run.request.options)
    listed = segments_of(parse_options(options))
    names = [name for name, segments in listed.items() if any(one.size for one in segments)]
    failed = verdicts.read(names, run)
    pending = [name for name in names if name not in failed]
    parts = {name: with_partition(options, name) for name in pending}
    runs = {name: replace(run, request=replace(run.request, options=part)) for name, part in parts.items()}
    try:
        if runs:
            _audit_all(run, runs, verdicts, failed, stderr)
    except BadOption as error:
        done = f"{len(failed)} of {len(names)} partitions have a verdict in {folder}"
        raise BadOption(f"{error}; {done}, and the same command goes on with the others") from error
    print(f"Verdicts: {len(failed)} partitions, {sum(failed.values())} with findings", flush=True)
    return EXIT_FINDINGS if any(failed.values()) else EXIT_CLEAN


def _audit_all(
    run: AuditRun,
    runs: dict[PartitionName, AuditRun],
    verdicts: _Verdicts,
    failed: dict[PartitionName, bool],
    stderr: TextIO,
) -> None:
    """Audit partitions in one session, and add each to failed when its verdict is written. Raises BadOption."""
    with session_of(run) as spark:
        for name, one in runs.items():
            failed[name] = _audit_one(spark, replace(one, is_part=True), name, verdicts, stderr)


def _audit_one(spark: SparkSession, run: AuditRun, name: PartitionName, verdicts: _Verdicts, stderr: TextIO) -> bool:
    """Audit a partition, write its verdict, and return whether its findings make the audit fail."""
    outputs = AuditOutputs(json=verdicts.path_of(name))
    run = replace(run, outputs=outputs)
    summary, _ = audited_summary(spark, run, check_request(run.request), log_topics(run), stderr)
    spark.catalog.clearCache()
    outputs.write_json(summary)
    print(f"{partition_folder(*name)}: {last_line(summary)}", flush=True)
    return summary.is_failed
