"""The sources of the page: files of this package, and one module that is made of what actions declare."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from . import page_declarations
from .joined_script import join_modules

FOLDER = Path(__file__).parent / "page"
INDEX = "index.html"
STYLE = "style.css"


@cache
def joined_script(entry: str) -> str:
    """Return the script of a page: a module with all its imports."""
    return join_modules(page_modules(), entry)


def page_modules() -> dict[str, str]:
    """Return the modules by their names."""
    files = {file.name: page_text(file.name) for file in FOLDER.glob("*.js")}
    return files | {page_declarations.MODULE: page_declarations.declared_module()}


def page_text(name: str) -> str:
    """Return the text of a file."""
    return (FOLDER / name).read_text("utf-8")
