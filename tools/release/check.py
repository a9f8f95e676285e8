"""The check of a release: everything that this machine can build is built twice, compared, tested and described."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from packaging.tags import platform_tags
from packaging.utils import parse_wheel_filename

from .builds import Distribution, Source, build_distributions, clone_source, read_source
from .comparison import different_files
from .components import Component
from .evidence import write_digests, write_materials
from .image_check import check_image, why_not_here
from .installation import install, locked_components
from .installed_checks import FAILURES, check_installed
from .interpreters import claimed_versions, find_interpreter
from .steps import ROOT, StepError
from .table import Row, exit_code, format_table

# Emptied by each check.
OUTPUT = ROOT / "build" / "release"
# What `make wheels` and the workflow build elsewhere.
ELSEWHERE = {
    "wheels manylinux, musllinux aarch64": "another processor; cibuildwheel builds and tests them",
    "wheels macosx arm64, x86_64": "another system; cibuildwheel builds and tests them",
    "wheels win_amd64": "another system; cibuildwheel builds and tests them",
}
MUSL_ELSEWHERE = "no such Python for musl; cibuildwheel builds and tests them"
IMAGE_ELSEWHERE = {"image (linux/arm64)": "another processor; buildx builds and starts it"}


def check_release(*, with_image: bool) -> int:
    """Build, test and describe everything, leave it in OUTPUT, and print the table. Returns the exit code."""
    found = {version: find_interpreter(version) for version in claimed_versions()}
    of_musl = {version: find_interpreter(version, is_musl=True) for version in found}
    with tempfile.TemporaryDirectory(prefix="fauxka-release-") as name:
        folder = Path(name)
        source = clone_source(folder / "clone")
        pythons = [path for path in (*found.values(), *of_musl.values()) if path is not None]
        built = _build_twice(source, pythons, folder)
        differences = different_files(folder / "first", folder / "another" / "second")
        rows = [_check_distribution(each, source, folder) for each in built]
        rows += [
            missing_row(f"wheel for Python {version}", "no such Python") for version in found if not found[version]
        ]
        rows += rows_elsewhere(of_musl)
        images, in_image = _check_image(source) if with_image else ([], [])
        shutil.rmtree(OUTPUT, ignore_errors=True)
        OUTPUT.mkdir(parents=True)
        artefacts = [Path(shutil.copy2(each.path, OUTPUT)) for each in built]
        write_materials(source, locked_components(source, built[1].path, folder / "locked"), in_image, OUTPUT)
        write_digests(source, artefacts, OUTPUT)
    report = format_report([*rows, *images], differences)
    (OUTPUT / "report.md").write_text(report)
    print(report, end="")
    return exit_code([*rows, *images], differences)


def check_wheels(folder: Path) -> int:
    """Install and test each wheel of a folder that this machine runs, and print the table. Returns the exit code."""
    source = read_source(ROOT)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="fauxka-wheels-") as name:
        for wheel in sorted(folder.glob("*.whl")):
            version = python_of_wheel(wheel.name)
            interpreter = find_interpreter(version) if version else None
            if interpreter is not None:
                rows.append(_check_distribution(Distribution(wheel.resolve(), interpreter), source, Path(name)))
            elif version:
                rows.append(missing_row(wheel.name, f"no Python {version}"))
    print(format_report(rows, None), end="")
    return exit_code(rows, [])


def python_of_wheel(name: str) -> str | None:
    """Return the version of CPython that a compiled wheel is for; None if it is for another system or processor."""
    tags = parse_wheel_filename(name)[3]
    here = set(platform_tags())
    versions = [tag.interpreter.removeprefix("cp3") for tag in tags if tag.platform in here]
    return f"3.{versions[0]}" if versions else None


def _build_twice(source: Source, pythons: Sequence[Path], folder: Path) -> list[Distribution]:
    """Build everything in two folders of different length, and return the first."""
    _say("building the sources and wheels, twice")
    built = build_distributions(source, pythons, folder / "first")
    build_distributions(source, pythons, folder / "another" / "second")
    return built


def _check_distribution(built: Distribution, source: Source, folder: Path) -> Row:
    """Install and test an artefact, and return its row."""
    _say(f"testing {built.path.name}")
    row = Row(built.path.name, built.path.stat().st_size)
    try:
        installation, row.installed_by = install(built.path, built.interpreter, folder / f"of-{built.path.name}")
    except StepError as error:
        row.failed["install"] = str(error)
    else:
        check_installed(installation, source.version, row)
    return row


def _check_image(source: Source) -> tuple[list[Row], list[Component]]:
    """Build and test the image, if this machine can, and return its rows and what it has."""
    elsewhere = [Row(name, not_built=reason) for name, reason in IMAGE_ELSEWHERE.items()]
    reason = why_not_here()
    if reason is not None:
        return [missing_row("image (linux/amd64)", reason), *elsewhere], []
    _say("building and testing the image")
    try:
        rows, components = check_image(source)
    except FAILURES as error:
        return [Row("image (linux/amd64)", failed={"build": str(error)}), *elsewhere], []
    return [*rows, *elsewhere], components


def missing_row(artefact: str, reason: str) -> Row:
    """Return the row of what this machine lacks a program for: with CI=true a failure, as in the tests."""
    if os.environ.get("CI") == "true":
        return Row(artefact, failed={"build": reason})
    return Row(artefact, not_built=reason)


def rows_elsewhere(of_musl: Mapping[str, Path | None]) -> list[Row]:
    """Return the rows of wheels that no machine like this one builds. of_musl: the interpreters for musl by version."""
    missing = ", ".join(version for version, path in of_musl.items() if path is None)
    musl = [Row(f"wheels musllinux x86_64 for Python {missing}", not_built=MUSL_ELSEWHERE)] if missing else []
    return [*musl, *(Row(name, not_built=reason) for name, reason in ELSEWHERE.items())]


def format_report(rows: Sequence[Row], differences: Sequence[str] | None) -> str:
    """Return the table, what two builds differ in, and why each failed test failed. differences: None for one build."""
    equal = ["Two builds of the commit are equal."] if differences == [] else []
    different = [f"differs between two builds: {line}" for line in differences or []]
    failures = [f"{row.artefact}, {name}: {reason}" for row in rows for name, reason in row.failed.items()]
    return "\n".join([format_table(rows), *equal, *different, *failures, ""])


def _say(line: str) -> None:
    """Show what takes long."""
    print(f"release: {line}", file=sys.stderr, flush=True)
