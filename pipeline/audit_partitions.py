"""The audit of one partition after another (--by-partition), for a log of which a job may not reach the end.

- The verdict on a partition is written when the partition has been audited, and never again. The same command goes on
  with the partitions that have none.
- A verdict has the options of its audit, and an audit with others refuses it.
- A partition is audited by itself: an event and its copy in another partition are not compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TextIO

from pyspark.sql import SparkSession

from ..storage.file_systems.path_problems import find_path_problem
from ..storage.log_files import PartitionName, partition_folder
from .audit_run import SESSION, AuditRun, audited_summary, log_topics
from .bad_option import BadOption
from .checks.audit_job import check_request
from .read.file_log import FileLog
from .read.file_store import LOCAL_FILES
from .read.options import parse_options
from .read.stored_listing import options_of_partitions, with_listing
from .read.stores import Store, store_of
from .repeated_command import without_secrets
from .report.audit_outputs import AuditOutputs
from .report.verdict_run import EXIT_CLEAN, EXIT_FINDINGS
from .report.verdict_text import last_line

_OPTION = "by-partition"


@dataclass(frozen=True, slots=True)
class _Verdicts:
    """The folder of the verdicts, a file for each partition. audit: the options of the audit, from _options_of."""

    store: Store
    folder: str
    audit: Mapping[str, object]

    def path_of(self, name: PartitionName) -> str:
        """Return the path of a verdict."""
        return f"{self.folder}/{partition_folder(*name)}.json"

    def read(self, names: Iterable[PartitionName]) -> dict[PartitionName, bool]:
        """Return the partitions with a verdict, and whether it has findings that make the audit fail.

        Raises BadOption for the verdict of another audit.
        """
        found = self._stored(names)
        for name, (audit, _) in found.items():
            differing = [option for option, value in self.audit.items() if audit[option] != value]
            if differing:
                raise BadOption(
                    f"{_OPTION}: {self.path_of(name)} is the verdict of an audit with other options ({differing[0]});"
                    " set a new folder"
                )
        return {name: is_failed for name, (_, is_failed) in found.items()}

    def _stored(self, names: Iterable[PartitionName]) -> dict[PartitionName, tuple[dict[str, object], bool]]:
        """Return the options of the audit of each verdict, and whether its findings make it fail. Raises BadOption."""
        found: dict[PartitionName, tuple[dict[str, object], bool]] = {}
        try:
            listing = self.store.list_files(self.folder)
            for name in names:
                path = self.path_of(name)
                if listing.is_file(path):
                    verdict = json.loads(self.store.read(path))
                    found[name] = {option: verdict["audit"][option] for option in self.audit}, verdict["is_failed"]
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
    if run.verdict.outputs != AuditOutputs():
        raise BadOption(f"{_OPTION}: writes a verdict for each partition, so no other output can be set")
    verdicts = _open_verdicts(folder, _options_of(run))
    options = with_listing(run.request.options)
    # Raises BadOption for a topic that is not there, as an audit of the whole log does.
    FileLog(parse_options(options)).segments()
    parts = options_of_partitions(options)
    if not parts:
        raise BadOption(f"path: {options['path']} contains no batches")
    failed = verdicts.read(parts)
    runs = {
        name: replace(run, request=replace(run.request, options=part), is_part=True)
        for name, part in parts.items()
        if name not in failed
    }
    try:
        if runs:
            with run.verdict.session(SESSION) as spark:
                for name, one in runs.items():
                    failed[name] = _audit_one(spark, one, name, verdicts, stderr)
    except BadOption as error:
        done = f"{len(failed)} of {len(parts)} partitions have a verdict in {folder}"
        raise BadOption(f"{error}; {done}, and the same command goes on with the others") from error
    print(f"Verdicts: {len(failed)} partitions, {sum(failed.values())} with findings", flush=True)
    return EXIT_FINDINGS if any(failed.values()) else EXIT_CLEAN


def _open_verdicts(folder: str, audit: Mapping[str, object]) -> _Verdicts:
    """Return the verdicts in a folder, which is created. Raises BadOption."""
    store, place = store_of(_OPTION, folder)
    if store == LOCAL_FILES:
        try:
            Path(place).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = find_path_problem(place, error) or f"{folder} cannot be created: {error.strerror}"
            raise BadOption(f"{_OPTION}: {reason}") from error
    return _Verdicts(store, place, audit)


def _options_of(run: AuditRun) -> dict[str, object]:
    """Return the options of a run on which its verdicts depend, as in their JSON. Names are those of the command."""
    request = run.request
    given = {name.lower(): text for name, text in request.options.items()}
    schemas = {name: value for name, value in asdict(request.schemas).items() if name != "schema_registry_user"}
    return {
        "path": without_secrets(given["path"]),
        "tier": without_secrets(given["tier"]) if "tier" in given else None,
        "since": given.get("startingtimestamp", given.get("startingoffsets")),
        "until": given.get("endingtimestamp", given.get("endingoffsets")),
        "as-of": request.as_of_ms,
        "checks": [*request.checks],
        "schema": schemas,
        "empty-id-is-an-id": request.is_empty_an_id,
        "late-after": request.late_after_ms,
        "fail-on": None if run.verdict.fail_on is None else [*run.verdict.fail_on],
        "baseline": None if run.verdict.baseline is None else run.verdict.baseline.place,
    }


def _audit_one(spark: SparkSession, run: AuditRun, name: PartitionName, verdicts: _Verdicts, stderr: TextIO) -> bool:
    """Audit a partition, write its verdict, and return whether its findings make the audit fail."""
    outputs = AuditOutputs(json=verdicts.path_of(name))
    run = replace(run, verdict=replace(run.verdict, outputs=outputs))
    summary, _ = audited_summary(spark, run, check_request(run.request), log_topics(run), stderr)
    spark.catalog.clearCache()
    outputs.write_json(summary, verdicts.audit)
    print(f"{partition_folder(*name)}: {last_line(summary)}", flush=True)
    return summary.is_failed
