"""Programs, files and commands in the documents: what is fenced with a language, and what is indented."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATTERNS = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/**/*.md",
    "clients/*/README.md",
    "examples/**/README.md",
)
# A fence may be indented, as in a list.
FENCED = re.compile(r"^(?P<indent> *)```(?P<language>\w+)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
# The four spaces that Markdown asks for. A paragraph ends at an empty line or at text.
INDENTED = re.compile(r"(?:^ {4}.*\S.*\n)+", re.MULTILINE)


@dataclass(frozen=True)
class Page:
    """A document."""

    path: Path

    @property
    def name(self) -> str:
        """The path in the checkout."""
        return str(self.path.relative_to(ROOT))

    @cached_property
    def text(self) -> str:
        """The whole text."""
        return self.path.read_text()

    def line_at(self, position: int) -> int:
        """Return the number of the line at a position of the text."""
        return self.text.count("\n", 0, position) + 1


@dataclass(frozen=True)
class Snippet:
    """A program, a file or a command in a document. line: its first one in the page."""

    page: Page
    language: str
    text: str
    line: int

    def __str__(self) -> str:
        """Return the place, as in an error of a compiler."""
        return f"{self.page.name}:{self.line} {self.language}"


PAGES = [Page(path) for path in sorted({path for pattern in PATTERNS for path in ROOT.glob(pattern)})]


def fenced_snippets() -> Iterator[Snippet]:
    """Yield what the documents fence with a language."""
    for page in PAGES:
        for found in FENCED.finditer(page.text):
            text = re.sub(f"^{found['indent']}", "", found["text"], flags=re.MULTILINE)
            yield Snippet(page, found["language"], text, page.line_at(found.start("text")))


def indented_paragraphs() -> Iterator[Snippet]:
    """Yield the paragraphs of indented blocks, without the indent: commands, outputs, tables of files."""
    for page in PAGES:
        # What is fenced is blanked, so that the lines keep their numbers.
        outside = FENCED.sub(lambda found: "\n" * found[0].count("\n"), page.text)
        for found in INDENTED.finditer(outside):
            text = re.sub(r"^ {4}", "", found[0], flags=re.MULTILINE)
            yield Snippet(page, "indented", text, outside.count("\n", 0, found.start()) + 1)


SNIPPETS = list(fenced_snippets())
PARAGRAPHS = list(indented_paragraphs())


def of(*languages: str) -> list[Snippet]:
    """Return what is fenced with one of these languages."""
    return [snippet for snippet in SNIPPETS if snippet.language in languages]
