"""The files of an audit: their check before it and their content after it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...storage.file_systems.path_problems import find_path_problem
from ..bad_option import BadOption
from .html_report import report_page
from .junit_xml import junit_xml
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
        if self.parquet is not None and "://" not in self.parquet and os.path.exists(self.parquet):
            raise BadOption(f"parquet: {self.parquet} exists already")
        if self.json == self.junit == STANDARD_OUTPUT:
            raise BadOption("junit: only one of json and junit can be - (standard output)")
        files = {"json": self.json, "html": self.html, "junit": self.junit, "offsets-out": self.offsets}
        for name, file in files.items():
            if file is None or (name in ("json", "junit") and file == STANDARD_OUTPUT):
                continue
            folder = Path(file).absolute().parent
            if not folder.is_dir() or not os.access(folder, os.W_OK) or Path(file).is_dir():
                raise BadOption(f"{name}: {file} cannot be written")

    def write(self, summary: Summary, kinds: Sequence[TopicKind] = ()) -> None:
        """Write the files of a summary, and print one form of it. Raises BadOption.

        kinds: from kinds_by_topic, for the JUnit XML.
        """
        content = json.dumps(summary.as_json(), indent=2)
        report = None if self.junit is None else junit_xml(summary, kinds)
        if self.html is not None:
            _write("html", self.html, report_page(json.loads(content)))
        if self.json is not None and self.json != STANDARD_OUTPUT:
            _write("json", self.json, content + "\n")
        if report is not None and self.junit is not None and self.junit != STANDARD_OUTPUT:
            _write("junit", self.junit, report)
        if self.json == STANDARD_OUTPUT:
            print(content)
        elif self.junit == STANDARD_OUTPUT:
            print(report, end="")
        else:
            print(verdict_text(summary))
        # The last output: an audit that fails before it is repeated by the next one.
        if self.offsets is not None:
            _replace("offsets-out", self.offsets, json.dumps(summary.range.ends, indent=2) + "\n")


def _write(name: str, file: str, content: str) -> None:
    _with_reasons(name, file, lambda: Path(file).write_text(content, encoding="utf-8"))


def _replace(name: str, file: str, content: str) -> None:
    """Write a file that is read later: an interrupted write leaves the earlier one."""
    path = Path(file)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        _with_reasons(name, file, lambda: beside.write_text(content, encoding="utf-8"))
        _with_reasons(name, file, lambda: beside.replace(path))
    finally:
        beside.unlink(missing_ok=True)


def _with_reasons(name: str, file: str, write: Callable[[], object]) -> None:
    try:
        write()
    except OSError as error:
        raise BadOption(f"{name}: {find_path_problem(file, error) or f'{file}: {error.strerror}'}") from error
