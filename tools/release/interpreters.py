"""The Pythons that pyproject.toml claims, and where they are on this machine.

An interpreter is one of FAUXKA_PYTHONS (paths, separated as in PATH), a `python3.12` in PATH, or one of pyenv. One for
musl is found with is_musl only: its wheels have another tag, and some packages have no wheel for it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

from .steps import ROOT

CLASSIFIER = "Programming Language :: Python :: 3."
START_SECONDS_MAX = 60
# The minor version, whether the modules are for a platform such as x86_64-linux-musl, and the path behind a shim.
DESCRIBE = """
import sys, sysconfig
print(*sys.version_info[:2], sep=".")
print((sysconfig.get_config_var("SOABI") or "").endswith("-musl"))
print(sys.executable)
"""


def claimed_versions() -> list[str]:
    """Return the minor versions of the classifiers, such as 3.11."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    classifiers: list[str] = project["classifiers"]
    return [f"3.{line.removeprefix(CLASSIFIER)}" for line in classifiers if line.startswith(CLASSIFIER)]


def find_interpreter(version: str, *, is_musl: bool = False) -> Path | None:
    """Return the first interpreter of a minor version that runs, not the shim before it; None if there is none.

    is_musl: it must be linked to musl; otherwise it must not.
    """
    found = (_describe(each) for each in _candidates(version))
    return next((Path(path) for *kind, path in found if kind == [version, str(is_musl)]), None)


def is_musl(interpreter: Path) -> bool:
    """Return whether an interpreter is linked to musl, as those of Alpine are."""
    return _describe(interpreter)[1:2] == ["True"]


def _candidates(version: str) -> Iterator[Path]:
    yield from (Path(path) for path in os.environ.get("FAUXKA_PYTHONS", "").split(os.pathsep) if path)
    if found := shutil.which(f"python{version}"):
        yield Path(found)
    yield from sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))


def _describe(interpreter: Path) -> list[str]:
    """Return the lines that DESCRIBE prints in an interpreter; [""] if it does not run."""
    try:
        ended = subprocess.run(
            [str(interpreter), "-c", DESCRIBE], capture_output=True, text=True, timeout=START_SECONDS_MAX
        )
    except (OSError, subprocess.TimeoutExpired):
        return [""]
    return ended.stdout.splitlines() if ended.returncode == 0 else [""]
