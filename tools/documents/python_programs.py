"""Programs in Python of the documents as modules that pyright reads.

- A name that a program reads and does not bind is imported from readers_code.py.
- A parameter without a type that pytest or a hunt passes gets its type. The text is not changed otherwise.
- The lines of a module have the numbers of the page, so that an error names the line of the page.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from pathlib import Path

from ..public_surface.interfaces import pytest_entries
from .pages import Snippet, of

# A program need not handle a record that is None, as poll() of most clients may return.
HEAD = "# pyright: basic, reportOptionalMemberAccess=false, reportUnusedExpression=false"
PARAMETERS = {"bootstrap": "str", "broker": "Broker"} | {
    name.removeprefix("fixture "): re.sub(r"^Iterator\[(.*)\]$", r"\1", detail.partition("-> ")[2])
    for name, detail in pytest_entries().items()
    if name.startswith("fixture ")
}
READERS_CODE = "tools.documents.readers_code"
TYPES_OF_PARAMETERS = "from collections.abc import Mapping, Sequence"


def write_modules(folder: Path) -> None:
    """Write each program as a module, and delete those of an earlier run."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.py"):
        path.unlink()
    for snippet in of("python"):
        page = snippet.page.name.removesuffix(".md").replace("/", "_")
        (folder / f"{page}_line_{snippet.line}.py").write_text(module_of(snippet))


def module_of(snippet: Snippet) -> str:
    """Return a program as a module. Raises ValueError for a name that readers_code.py does not have."""
    typed = with_types(snippet.text)
    names = undefined_names(typed)
    if unknown := names - readers_names():
        raise ValueError(f"{snippet}: {', '.join(sorted(unknown))} is not defined; readers_code.py has such names")
    imported = f"from {READERS_CODE} import {', '.join(sorted(names))}" if names else ""
    head = f"{HEAD}\n{TYPES_OF_PARAMETERS}; {imported}"
    return head + "\n" * (snippet.line - 2) + typed


def readers_names() -> set[str]:
    """Return the names of readers_code.py. It is not imported, because it needs pyspark."""
    for node in ast.parse(Path(__file__).with_name("readers_code.py").read_text()).body:
        if isinstance(node, ast.Assign):
            return set(ast.literal_eval(node.value))
    raise AssertionError("readers_code.py has __all__")


def undefined_names(text: str) -> set[str]:
    """Return the names that a program reads and never binds, without those of TYPES_OF_PARAMETERS."""
    read: set[str] = set()
    bound = set(dir(builtins)) | _bound_names(TYPES_OF_PARAMETERS)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            read.add(node.id)
    return read - bound - _bound_names(text)


def _bound_names(text: str) -> set[str]:
    bound: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                bound.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                bound.add(name)
            case ast.alias(name=name, asname=other):
                bound.add(other or name.partition(".")[0])
            case _:
                pass
    return bound


def with_types(text: str) -> str:
    """Return a program in which parameters that pytest or a hunt passes have their types."""
    lines = text.splitlines(keepends=True)
    missing = [each for each in _parameters(text) if each.annotation is None and each.arg in PARAMETERS]
    # The last one first: an insertion moves the columns behind it.
    for each in sorted(missing, key=lambda found: (found.lineno, found.col_offset), reverse=True):
        line = lines[each.lineno - 1]
        end = each.col_offset + len(each.arg)
        lines[each.lineno - 1] = f"{line[:end]}: {PARAMETERS[each.arg]}{line[end:]}"
    return "".join(lines)


def _parameters(text: str) -> Iterator[ast.arg]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from node.args.args
