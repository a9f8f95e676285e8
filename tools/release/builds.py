"""The sources and wheels of a release, built from a clone of the last commit.

- Every build runs in an environment of requirements/build.txt, not in one that a build front end fills from the index.
- The wheels are built from the archive of the sources, so that an archive without a file is found here.
- SOURCE_DATE_EPOCH is the time of the commit, and the umask is fixed: two builds give the same bytes (comparison.py).
- The tag of a compiled wheel is the lowest manylinux that the symbols of its modules allow, or the musllinux of an
  interpreter for musl; auditwheel finds it.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .comparison import normalize_sdist
from .interpreters import is_musl
from .steps import ROOT, environment, expect, run_step

UMASK = 0o022
# The programs that `make` has installed beside this Python.
PROGRAMS = Path(sys.executable).parent
UV = PROGRAMS / "uv"


@dataclass(frozen=True, slots=True)
class Source:
    """A clone. epoch: the time of its commit in seconds since 1970."""

    folder: Path
    commit: str
    epoch: int
    version: str


@dataclass(frozen=True, slots=True)
class Distribution:
    """The archive of the sources, or a wheel. interpreter: what it was built with, and is tested with."""

    path: Path
    interpreter: Path


def clone_source(folder: Path) -> Source:
    """Clone the last commit of this checkout into a new folder."""
    os.umask(UMASK)
    run_step("git", "clone", "--quiet", ROOT, folder)
    return read_source(folder)


def read_source(folder: Path) -> Source:
    """Return the last commit of a checkout, and the version in its pyproject.toml."""
    commit = run_step("git", "rev-parse", "HEAD", folder=folder).strip()
    epoch = int(run_step("git", "log", "-1", "--format=%ct", folder=folder))
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    return Source(folder, commit, epoch, project["version"])


def build_distributions(source: Source, interpreters: Iterable[Path], folder: Path) -> list[Distribution]:
    """Build the sources, the wheel for every platform and a compiled wheel for each interpreter into a new folder."""
    here = Path(sys.executable)
    sdist = build_sources(source, folder)
    plain = build_wheel(source, sdist, here, is_compiled=False)
    compiled = [Distribution(build_wheel(source, sdist, each, is_compiled=True), each) for each in interpreters]
    return [Distribution(sdist, here), Distribution(plain, here), *compiled]


def build_sources(source: Source, folder: Path) -> Path:
    """Build the archive of the sources into a new folder."""
    folder.mkdir(parents=True)
    builder = _environment_for(source, folder, Path(sys.executable))
    _build(source, source.folder, builder, {"FAUXKA_COMPILE": "0"}, "--sdist", "--out-dir", folder)
    (sdist,) = folder.glob("*.tar.gz")
    normalize_sdist(sdist, source.epoch)
    return sdist


def build_wheel(source: Source, sdist: Path, interpreter: Path, *, is_compiled: bool) -> Path:
    """Build a wheel from the sources, beside them."""
    folder = sdist.parent
    builder = _environment_for(source, folder, interpreter)
    before = set(folder.glob("*.whl"))
    variables = {"FAUXKA_COMPILE": str(int(is_compiled))}
    _build(source, sdist, builder, variables, "--wheel", "--out-dir", folder)
    (wheel,) = set(folder.glob("*.whl")) - before
    if not is_compiled or sys.platform != "linux":
        return wheel
    return _repaired(source, wheel, "musllinux" if is_musl(interpreter) else "manylinux")


def _environment_for(source: Source, folder: Path, interpreter: Path) -> Path:
    """Return the Python of an environment with the locked packages of a build. It is made once for each interpreter."""
    made = folder / "builders" / str(interpreter.resolve()).replace(os.sep, "_")
    python = made / "bin" / "python"
    if not python.exists():
        run_step(UV, "venv", "--quiet", "--python", interpreter, made)
        locked = source.folder / "requirements" / "build.txt"
        run_step(UV, "pip", "install", "--quiet", "--python", python, "--require-hashes", "-r", locked)
    return python


def _build(source: Source, of: Path, python: Path, variables: Mapping[str, str], *options: str | Path) -> None:
    fixed = ("--quiet", "--no-build-isolation", "--no-create-gitignore", "--python", python)
    chosen = environment({"SOURCE_DATE_EPOCH": str(source.epoch), **variables})
    run_step(UV, "build", *fixed, *options, of, folder=source.folder, variables=chosen)


def _repaired(source: Source, wheel: Path, tag: str) -> Path:
    """Replace a wheel of this machine with one that has the tag of many, and return it. tag: manylinux or musllinux."""
    folder = wheel.parent / "repaired"
    path = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    variables = environment({"SOURCE_DATE_EPOCH": str(source.epoch), "PATH": path})
    run_step(PROGRAMS / "auditwheel", "repair", "--wheel-dir", folder, wheel, variables=variables)
    (repaired,) = folder.glob("*.whl")
    expect(f"-{tag}" in repaired.name, f"{repaired.name} has no tag of {tag}")
    wheel.unlink()
    target = repaired.rename(wheel.with_name(repaired.name))
    folder.rmdir()
    return target
