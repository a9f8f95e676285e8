"""Writes what a hunt, or a replay, has found to a folder: the report as a page, and the files of each finding."""

from __future__ import annotations

from pathlib import Path

from ...storage.file_systems.own_folder import replace_file
from .finding import Hunted
from .report_html import report_html
from .reproduction import remove_findings, write_finding

PAGE = "index.html"


def folders_of(result: Hunted, folder: Path) -> list[Path]:
    """Return the folders of the findings."""
    return [folder / str(number) for number in range(1, len(result.findings) + 1)]


def write_result(folder: Path, result: Hunted) -> Path:
    """Write the result in place of that of an earlier hunt, and return the page. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    remove_findings(folder)
    folders = folders_of(result, folder)
    for of_finding, finding in zip(folders, result.findings, strict=True):
        write_finding(of_finding, finding, result.program, result.options)
    return write_page(folder / PAGE, report_html(result, folders))


def write_page(file: Path, page: str) -> Path:
    """Write a page, and return its path. Raises OSError."""
    # A word of the command may be no text.
    replace_file(file, page.encode("utf-8", "backslashreplace"))
    return file
