"""The files of an audit: their check before it and their content after it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pyspark.sql import DataFrame

from ...storage.file_systems.own_folder import replace_file
from ...storage.file_systems.path_problems import find_path_problem
from ..bad_option import BadOption
from ..cluster.stored_files import find_store
from ..cluster.stored_frames import check_new, write_parquet
from ..read.file_store import LocalFiles
from ..read.object_store import ArrowFiles
from ..read.stores import store_of
from .html_report import report_page
from .junit_xml import junit_xml
from .shown_commands import command_for
from .summary import Summary, TopicKind
from .verdict_text import verdict_text

# Standard output as a file.
STANDARD_OUTPUT = "-"


@dataclass(frozen=True, slots=True)
class AuditOutputs:
    """The places of the results. json, junit: a file, or - for standard output instead of the text.

    parquet: a new folder for all findings. html: the file of the page. offsets: the file of the ends of the audit.
    """

    json: str | None = None
    parquet: str | None = None
    html: str | None = None
    junit: str | None = None
    offsets: str | None = None

    def check(self) -> None:
        """Raise BadOption before the audit if an output could not be written after it."""
        if self.parquet is not None:
            stored = find_store("parquet", self.parquet)
            if stored is not None:
                check_new("parquet", *stored, "")
            elif "://" not in self.parquet and os.path.exists(self.parquet):
                raise BadOption(f"parquet: {self.parquet} exists already")
        if self.json == self.junit == STANDARD_OUTPUT:
            raise BadOption("junit: only one of json and junit can be - (standard output)")
        files = {"json": self.json, "html": self.html, "junit": self.junit, "offsets-out": self.offsets}
        for name, file in files.items():
            if file is None or (name in ("json", "junit") and file == STANDARD_OUTPUT):
                continue
            store, place = store_of(name, file)
            if isinstance(store, LocalFiles):
                _check_local(name, place)
            else:
                _check_stored(name, store, place)

    def write_findings(self, findings: DataFrame) -> None:
        """Write all findings to the folder, if there is one. Raises BadOption."""
        if self.parquet is None:
            return
        stored = find_store("parquet", self.parquet)
        if stored is None:
            findings.write.parquet(self.parquet)
        else:
            write_parquet("parquet", findings, *stored)

    def write_json(self, summary: Summary, audit: Mapping[str, object]) -> None:
        """Write only the JSON, which appears whole, with the options of the audit. Raises BadOption."""
        assert self.json is not None, "the outputs have a file of JSON"
        content = {**json.loads(_json_of(summary)), "audit": audit}
        _replace("json", self.json, json.dumps(content, indent=2) + "\n")

    def write(self, summary: Summary, kinds: Sequence[TopicKind] = ()) -> None:
        """Print one form of a summary, then write its files. Raises BadOption.

        kinds: from kinds_by_topic, for the JUnit XML.
        """
        content = _json_of(summary)
        report = None if self.junit is None else junit_xml(summary, kinds)
        # Printed first: a file that cannot be written does not take the verdict with it.
        if self.json == STANDARD_OUTPUT:
            print(content, flush=True)
        elif self.junit == STANDARD_OUTPUT:
            print(report, end="", flush=True)
        else:
            print(verdict_text(summary), flush=True)
        if self.json is not None and self.json != STANDARD_OUTPUT:
            _write("json", self.json, content + "\n")
        if report is not None and self.junit is not None and self.junit != STANDARD_OUTPUT:
            _write("junit", self.junit, report)
        if self.html is not None:
            _write("html", self.html, report_page(json.loads(content)))
        # The last output: an audit that fails before it is repeated by the next one.
        if self.offsets is not None:
            _replace("offsets-out", self.offsets, json.dumps(summary.range.ends, indent=2) + "\n")


def _json_of(summary: Summary) -> str:
    """Return the JSON of a summary, in which each group has its advice and its command."""
    groups = [
        {**asdict(group), "advice": group.advice, "command": command_for(group, summary.commands)}
        for group in summary.groups
    ]
    return json.dumps({**summary.as_json(), "groups": groups}, indent=2)


def _check_local(name: str, file: str) -> None:
    folder = Path(file).absolute().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK) or Path(file).is_dir():
        raise BadOption(f"{name}: {file} cannot be written")


def _check_stored(name: str, store: ArrowFiles, place: str) -> None:
    """Raise BadOption if the bucket is missing or cannot be reached. Whether it can be written, only a write tells."""
    try:
        store.list_files(place)
    except OSError as error:
        raise BadOption(f"{name}: {place} cannot be written: {error.strerror}") from error


def _write(name: str, file: str, content: str) -> None:
    store, place = store_of(name, file)
    _with_reasons(name, place, lambda: store.write(place, content.encode()))


def _replace(name: str, file: str, content: str) -> None:
    """Write a file that is read later: an interrupted write leaves the earlier one, as in every object store."""
    store, place = store_of(name, file)
    if not isinstance(store, LocalFiles):
        _with_reasons(name, place, lambda: store.write(place, content.encode()))
        return
    _with_reasons(name, place, lambda: replace_file(place, content.encode()))


def _with_reasons(name: str, file: str, write: Callable[[], object]) -> None:
    try:
        write()
    except OSError as error:
        raise BadOption(f"{name}: {find_path_problem(file, error) or f'{file}: {error.strerror}'}") from error
