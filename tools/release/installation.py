"""An artefact, installed alone in an empty environment, and how its programs run there.

They run without a compiler in PATH, not as root, and with a home folder that cannot be written.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .builds import UV, Source
from .components import LIST_PACKAGES, Component, components_of_python
from .steps import environment, run_step
from .table import Seconds

# Programs of the operating system that the checks run; none of them is a compiler.
SYSTEM_PROGRAMS = ("env", "sh", "sleep", *(("unshare",) if sys.platform == "linux" else ()))
UNPRIVILEGED_ID = 1000
# As in pyproject.toml.
BUILD_SYSTEM = "setuptools>=80"
CHECK_SECONDS_MAX = 120


@dataclass(frozen=True, slots=True)
class Installation:
    """An environment with an artefact. path: the PATH of its programs."""

    artefact: Path
    python: Path
    home: Path
    path: str

    @property
    def is_compiled(self) -> bool:
        """Whether the artefact has compiled modules; the sources have none without a compiler."""
        return self.artefact.suffix == ".whl" and not self.artefact.name.endswith("-py3-none-any.whl")

    @property
    def is_musl(self) -> bool:
        """Whether the artefact is a wheel for musl."""
        return "-musllinux_" in self.artefact.name

    def command(self, *arguments: str) -> list[str]:
        """Return the command that runs a program of the environment not as root."""
        program = str(self.python.with_name(arguments[0]))
        return [*without_root(), program, *arguments[1:]]

    def variables(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the whole environment of a command."""
        names = ("PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "LANG", "TMPDIR")
        kept = {name: os.environ[name] for name in names if name in os.environ}
        return {**kept, "PATH": self.path, "HOME": str(self.home), **(more or {})}

    def run(self, *arguments: str, variables: Mapping[str, str] | None = None) -> str:
        """Run a program of the environment and return its output. Raises StepError if it fails.

        variables: more than those of every command.
        """
        chosen = self.variables(variables)
        return run_step(*self.command(*arguments), folder=self.home, variables=chosen, seconds_max=CHECK_SECONDS_MAX)


def without_root() -> tuple[str, ...]:
    """Return the words before a command that take root's rights from it; none if this process is not root.

    The user namespace has one user, which owns root's files outside and has no capability.
    """
    if os.geteuid() != 0:
        return ()
    return ("unshare", "--user", f"--map-user={UNPRIVILEGED_ID}", f"--map-group={UNPRIVILEGED_ID}")


def install(artefact: Path, interpreter: Path, folder: Path) -> tuple[Installation, dict[str, Seconds]]:
    """Install an artefact in empty environments below a new folder, without a compiler in PATH.

    Returns the last one, and the seconds by installer. They count no download: uv has all in its cache, and pip in a
    folder, because pip caches nothing of an index that sends no time for which its files are valid.
    """
    folder.mkdir(parents=True)
    programs = make_programs(folder / "programs")
    home = folder / "home"
    home.mkdir(mode=0o500)
    variables = environment({"PATH": str(programs)})

    def environment_of(name: str) -> Path:
        run_step(UV, "venv", "--quiet", "--python", interpreter, folder / name)
        return folder / name / "bin" / "python"

    run_step(*_installing(environment_of("uv-cold")), artefact, variables=variables)
    by_uv = _seconds_of(*_installing(environment_of("uv")), artefact, variables=variables)
    python = environment_of("pip")
    # pip runs from the environment of `make`: a new one has none.
    pip = (sys.executable, "-m", "pip", "--python", python)
    wheels = folder / "wheels"
    # The build of the archive of the sources needs setuptools.
    run_step(*pip, "download", "--quiet", "--dest", wheels, artefact, BUILD_SYSTEM, variables=variables)
    options = ("--quiet", "--no-index", "--find-links", wheels)
    by_pip = _seconds_of(*pip, "install", *options, artefact, variables=variables)
    installation = Installation(artefact, python, home, f"{python.parent}{os.pathsep}{programs}")
    return installation, {"uv": by_uv, "pip": by_pip}


def _installing(python: Path) -> tuple[str | Path, ...]:
    """Return the command of uv, without what to install."""
    return UV, "pip", "install", "--quiet", "--python", python


def _seconds_of(*command: str | Path, variables: Mapping[str, str]) -> Seconds:
    """Run a command and return how long it took."""
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    run_step(*command, variables=variables)
    elapsed, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Seconds(elapsed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def install_more(installation: Installation, *packages: str) -> None:
    """Install packages beside the artefact."""
    run_step(*_installing(installation.python), *packages)


def locked_components(source: Source, wheel: Path, folder: Path) -> list[Component]:
    """Return the packages of an environment with a wheel and the locked packages of the image, which has the same."""
    run_step(UV, "venv", "--quiet", folder)
    python = folder / "bin" / "python"
    locked = source.folder / "requirements" / "image.txt"
    run_step(*_installing(python), "--require-hashes", "-r", locked)
    run_step(*_installing(python), "--no-deps", wheel)
    return components_of_python(run_step(python, "-c", LIST_PACKAGES))


def make_programs(folder: Path) -> Path:
    """Make a folder for PATH with links to SYSTEM_PROGRAMS, and with nothing that compiles."""
    folder.mkdir()
    for name in SYSTEM_PROGRAMS:
        found = next(place for part in ("/usr/bin", "/bin") if (place := Path(part, name)).exists())
        (folder / name).symlink_to(found)
    return folder
