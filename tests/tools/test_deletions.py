"""Folders with other content are deleted in one module only: what is not the product's own stays."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = ("admin", "broker", "client", "faults", "pipeline", "protocol", "scenarios", "security", "spark_jobs")
FILES = sorted(
    [*ROOT.glob("*.py"), *(path for part in (*PARTS, "storage", "testing") for path in (ROOT / part).rglob("*.py"))]
)
# Each deletes a tree or several folders, or moves by a copy and a deletion.
FORBIDDEN = {"rmtree", "removedirs", "renames", "fwalk"}


def names_in(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names)


def forbidden_in(source: str) -> set[str]:
    return FORBIDDEN.intersection(names_in(source))


def test_no_module_deletes_a_tree() -> None:
    found = {str(path.relative_to(ROOT)): names for path in FILES if (names := forbidden_in(path.read_text("utf-8")))}

    assert found == {}
    assert len(FILES) > 500


@pytest.mark.parametrize("source", ["import shutil\nshutil.rmtree('a')", "from shutil import rmtree"])
def test_deletion_of_a_tree_is_found(source: str) -> None:
    assert forbidden_in(source) == {"rmtree"}
