"""Check that the modules of the product do not import each other in a cycle. Imports for type checkers count.

    python tools/import_cycles.py

`tool.import_cycles.allowed` in pyproject.toml lists the allowed cycles. All modules of one cycle are in one folder.
A cycle that is not listed is an error, and so is a listed cycle that no longer exists.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from grimp import ImportGraph, build_graph

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Check the checkout and return the exit code."""
    found = find_cycles(build_graph("fauxka", cache_dir=None))
    tables = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    listed = {tuple(sorted(cycle)) for cycle in tables.get("import_cycles", {}).get("allowed", [])}
    errors = [
        *(f"cycle of imports: {', '.join(cycle)}" for cycle in sorted(found - listed)),
        *(f"remove from pyproject.toml, not a cycle: {', '.join(cycle)}" for cycle in sorted(listed - found)),
        *(f"not in one folder: {', '.join(cycle)}" for cycle in sorted(listed) if not is_in_one_folder(cycle)),
    ]
    print("".join(f"{error}\n" for error in errors), end="", file=sys.stderr)
    return int(errors != [])


def find_cycles(graph: ImportGraph) -> set[tuple[str, ...]]:
    """Return each set of two or more modules that all import one another, directly or through others, sorted."""
    cycles = set[tuple[str, ...]]()
    for module in graph.modules:
        others = graph.find_upstream_modules(module) & graph.find_downstream_modules(module)
        if others:
            cycles.add(tuple(sorted({module, *others})))
    return cycles


def is_in_one_folder(cycle: tuple[str, ...]) -> bool:
    """Return whether all modules of the cycle have the same parent package."""
    return len({module.rpartition(".")[0] for module in cycle}) == 1


if __name__ == "__main__":
    sys.exit(main())
