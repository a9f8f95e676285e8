"""Check the limits of functions. tools/lint_ratchet.toml lists the functions that are exempt.

    python tools/lint_ratchet.py [--write]

| limit | maximum | measured by |
|---|---|---|
| complexity | `lint.mccabe.max-complexity` in pyproject.toml | ruff C901 |
| arguments | `lint.pylint.max-args` in pyproject.toml | ruff PLR0913 |
| lines | LINES_MAX, from `def` to the last line | this file |
| imports | none in a function of the product: rare parts are loaded on first use (`__init__.py`) | this file |

A function that breaks a limit and is not listed is an error. A listed function that keeps the limit is an error too, so
the list can only shrink. An entry is `path:Class.function`, without a line number. --write writes the list anew.
"""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "tools" / "lint_ratchet.toml"
HEAD = "# Functions that may break a limit. Written by `python tools/lint_ratchet.py --write`. Add none.\n"
# What fits on one screen.
LINES_MAX = 50
LIMIT_OF_RULE = {"C901": "complexity", "PLR0913": "arguments"}
LIMITS = ("complexity", "arguments", "lines", "imports")
# What ships: src/fauxka links to it.
PRODUCT = {link.resolve() for link in (ROOT / "src" / "fauxka").iterdir()}
# The generator decides how long these functions are.
GENERATED = "protocol/messages/"


def main() -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(description="check the limits of functions")
    parser.add_argument("--write", action="store_true", help="write tools/lint_ratchet.toml anew")
    found = find_oversized()
    if parser.parse_args().write:
        LIST.write_text(HEAD + "".join(format_limit(limit, sorted(found[limit])) for limit in LIMITS))
        return 0
    listed = read_list()
    for limit in LIMITS:
        for name in sorted(found[limit] - listed[limit]):
            print(f"{name} breaks the limit of {limit}", file=sys.stderr)
        for name in sorted(listed[limit] - found[limit]):
            print(f"{name} keeps the limit of {limit}: remove it from tools/lint_ratchet.toml", file=sys.stderr)
    return int(found != listed)


def format_limit(limit: str, names: list[str]) -> str:
    """Return the functions that are exempt from a limit as a TOML array."""
    return "".join([f"\n{limit} = [\n", *(f'    "{name}",\n' for name in names), "]\n"])


def read_list() -> dict[str, set[str]]:
    """Return the listed functions of each limit."""
    listed = tomllib.loads(LIST.read_text())
    return {limit: set(listed.get(limit, ())) for limit in LIMITS}


def find_oversized() -> dict[str, set[str]]:
    """Return the functions that break each limit."""
    found: dict[str, set[str]] = {limit: set() for limit in LIMITS}
    names: dict[tuple[str, int], str] = {}
    for path in run_ruff("--show-files").splitlines():
        if path.endswith(".py") and not is_generated(path):
            for name, node in functions(ast.parse(Path(path).read_text()), ""):
                names[path, node.lineno] = name = f"{Path(path).relative_to(ROOT)}:{name}"
                if (node.end_lineno or 0) - node.lineno >= LINES_MAX:
                    found["lines"].add(name)
                if is_in_product(path) and has_own_import(node):
                    found["imports"].add(name)
    for error in json.loads(run_ruff("--select", ",".join(LIMIT_OF_RULE), "--output-format", "json")):
        if not is_generated(error["filename"]):
            found[LIMIT_OF_RULE[error["code"]]].add(names[error["filename"], error["location"]["row"]])
    return found


def functions(parent: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield each function below a node of the syntax tree, with its qualified name."""
    for node in ast.iter_child_nodes(parent):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from functions(node, prefix)
            continue
        name = prefix + node.name
        if not isinstance(node, ast.ClassDef):
            yield name, node
        yield from functions(node, f"{name}.")


def has_own_import(parent: ast.AST) -> bool:
    """Return whether a function imports a module, outside of the functions in it."""
    return any(
        isinstance(node, ast.Import | ast.ImportFrom)
        or (not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and has_own_import(node))
        for node in ast.iter_child_nodes(parent)
    )


def is_in_product(path: str) -> bool:
    """Return whether the file ships."""
    return not PRODUCT.isdisjoint([Path(path), *Path(path).parents])


def is_generated(path: str) -> bool:
    """Return whether a generator writes the file."""
    return path.startswith(str(ROOT / GENERATED))


def run_ruff(*options: str) -> str:
    """Return the standard output of `ruff check`. Violations are no failure."""
    command = [sys.executable, "-m", "ruff", "check", "--exit-zero", "--no-cache", *options, str(ROOT)]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
