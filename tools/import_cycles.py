"""Check that the modules of the product do not import each other in a cycle. Imports for type checkers count.

    python tools/import_cycles.py

A package imports the rare parts that its `__init__` lists for type checkers. A module that names `package.part` imports
only that part.

`tool.import_cycles.allowed` in pyproject.toml lists the allowed cycles. All modules of one cycle are in one folder.
A cycle that is not listed is an error, and so is a listed cycle that no longer exists.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from pathlib import Path

from grimp import ImportGraph, build_graph

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Check the checkout and return the exit code."""
    graph = build_graph("fauxka", cache_dir=None)
    resolve_parts(graph)
    found = find_cycles(graph)
    tables = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    listed = {tuple(sorted(cycle)) for cycle in tables.get("import_cycles", {}).get("allowed", [])}
    errors = [
        *(f"cycle of imports: {', '.join(cycle)}" for cycle in sorted(found - listed)),
        *(f"remove from pyproject.toml, not a cycle: {', '.join(cycle)}" for cycle in sorted(listed - found)),
        *(f"not in one folder: {', '.join(cycle)}" for cycle in sorted(listed) if not is_in_one_folder(cycle)),
    ]
    print("".join(f"{error}\n" for error in errors), end="", file=sys.stderr)
    return int(errors != [])


def resolve_parts(graph: ImportGraph) -> None:
    """Replace each import of a package that is used only to name its parts by imports of these parts."""
    for package in sorted(graph.modules):
        parts = graph.find_children(package) & graph.find_modules_directly_imported_by(package)
        for importer in sorted(graph.find_modules_that_directly_import(package) if parts else ()):
            named = {f"{package}.{name}" for name in attributes_of(package.rpartition(".")[2], importer)}
            if named and named <= parts:
                graph.remove_import(importer=importer, imported=package)
                for part in named:
                    graph.add_import(importer=importer, imported=part)


def attributes_of(package: str, module: str) -> set[str]:
    """Return the attributes of a package, imported by its name, that the source of a module uses."""
    path = ROOT / "src" / Path(*module.split("."))
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    nodes = list(ast.walk(ast.parse(source.read_text())))
    imported = [alias for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names]
    names = {alias.asname or alias.name for alias in imported if alias.name == package}
    return {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names
    }


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
