"""What the sources of compiled modules must not have, and what tests must not replace in them.

The compiler reads only these modules. A class whose base it does not know gets a wrong layout, and a method that a test
replaces is not called by compiled code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from .plain_modules import COMPILED, ROOT

TESTS = ROOT / "tests"
# Of the standard library: they have no fields, or the compiler knows them.
OTHER_BASES = {"Enum", "Exception", "IntEnum", "NamedTuple", "Protocol"}
# Module constants that a test may set, because compiled code reads them from the module each time.
SET_BY_TESTS = {"_PRODUCERS_WRITTEN_AT_ONCE_MAX"}


def source_of(module: str) -> Path:
    return ROOT / f"{module.removeprefix('fauxka.').replace('.', '/')}.py"


def classes_of(module: str) -> Iterator[ast.ClassDef]:
    for node in ast.parse(source_of(module).read_text()).body:
        if isinstance(node, ast.ClassDef):
            yield node


COMPILED_CLASSES = {each.name for module in COMPILED for each in classes_of(module)}
# They have no fields.
PROTOCOLS = {
    each.name for module in COMPILED for each in classes_of(module) if "Protocol" in map(ast.unparse, each.bases)
}
# Python lets no class derive from an enumeration with members, so a base of this name is another class.
ENUMERATIONS = {
    each.name for module in COMPILED for each in classes_of(module) if "Enum" in map(ast.unparse, each.bases)
}


@pytest.mark.parametrize("module", COMPILED)
def test_bases_of_compiled_classes_are_compiled_or_without_fields(module: str) -> None:
    bases = {ast.unparse(base).partition("[")[0] for each in classes_of(module) for base in each.bases}

    assert bases <= COMPILED_CLASSES | OTHER_BASES


@pytest.mark.parametrize("module", COMPILED)
def test_annotations_of_tuples_with_names_need_no_class_that_is_imported_for_types_alone(module: str) -> None:
    """Compiled, they would read the class before its module is imported."""
    text = source_of(module).read_text()
    types_alone = re.search(r"^if TYPE_CHECKING:\n((?:    .*\n|\n)+)", text, re.MULTILINE)
    names = set(re.findall(r"\w+", types_alone[1])) if types_alone else set[str]()
    tuples = [each for each in classes_of(module) if "NamedTuple" in map(ast.unparse, each.bases)]
    used = {
        name
        for each in tuples
        for field in each.body
        if isinstance(field, ast.AnnAssign)
        for name in re.findall(r"\w+", ast.unparse(field.annotation))
    }

    assert used & names == set()


def test_no_class_outside_derives_from_a_compiled_one() -> None:
    outside = [
        f"{path.relative_to(ROOT)}: {each.name}({ast.unparse(base)})"
        for path in python_files()
        for each in ast.walk(ast.parse(path.read_text()))
        if isinstance(each, ast.ClassDef)
        for base in each.bases
        if ast.unparse(base) in COMPILED_CLASSES - PROTOCOLS - ENUMERATIONS and not is_compiled_source(path)
    ]

    assert outside == []


def is_compiled_source(path: Path) -> bool:
    return path in {source_of(module) for module in COMPILED}


def python_files() -> Iterator[Path]:
    for part in ("admin", "broker", "faults", "protocol", "scenarios", "storage", "testing", "tests"):
        yield from (ROOT / part).rglob("*.py")


def replaced_names() -> Iterator[tuple[Path, str, str]]:
    """Yield the file, the object and the attribute of each call that replaces an attribute."""
    call = re.compile(r"(?:monkeypatch\.setattr|patch\.object)\(\s*([\w.]+|\"[\w.]+\"),\s*(?:\"(\w+)\")?")
    for path in TESTS.rglob("*.py"):
        for owner, name in call.findall(path.read_text()):
            if owner.startswith('"'):
                place, _, name = owner.strip('"').rpartition(".")
                yield path, place.rpartition(".")[2], name
            else:
                yield path, owner.rpartition(".")[2], name


def test_no_test_replaces_a_part_of_a_compiled_class_or_module() -> None:
    modules = {module.rpartition(".")[2] for module in COMPILED}

    replaced = [
        f"{path.relative_to(ROOT)}: {owner}.{name}"
        for path, owner, name in replaced_names()
        if owner in COMPILED_CLASSES | modules and name not in SET_BY_TESTS
    ]

    assert len(list(replaced_names())) > 50
    assert replaced == []
