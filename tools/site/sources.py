"""Copies the documents and what they link to, and writes the pages that are made."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from .openapi_page import openapi_document, openapi_page

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENTS = (
    "*.md",
    "docs/*.md",
    "docs/decisions/*.md",
    "clients/*/README.md",
    "examples/README.md",
    "examples/*/README.md",
)
OPENAPI = "docs/openapi"
# A target in the repository, of a link or a picture.
TARGET = re.compile(r"\]\((?!\w+:)([^)#\s]+)")


def documents() -> list[Path]:
    """Return the paths of all documents, sorted."""
    return sorted({path for pattern in DOCUMENTS for path in ROOT.glob(pattern)})


def write_sources(folder: Path) -> None:
    """Write the sources to a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    for document in documents():
        _copy(document, folder)
        for target in _linked_files(document):
            _copy(target, folder)
    (folder / f"{OPENAPI}.json").write_text(openapi_document())
    (folder / f"{OPENAPI}.md").write_text(openapi_page())


def _linked_files(document: Path) -> Iterator[Path]:
    """Yield the files in the repository that a document links to; documents are copied anyway."""
    for match in TARGET.finditer(document.read_text()):
        target = (document.parent / match[1]).resolve()
        if target.is_file() and target.suffix != ".md" and target.is_relative_to(ROOT):
            yield target


def _copy(path: Path, folder: Path) -> None:
    copy = folder / path.relative_to(ROOT)
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, copy)
