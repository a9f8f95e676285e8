"""Whether Spark can run on this machine. The pipeline checks the same in its own process, when a job starts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

INSTALL = "pip install 'fauxka[spark]'"


def find_missing_part() -> str | None:
    """Return what Spark lacks here, and how to get it, as one line; None if nothing is missing."""
    try:
        metadata.version("pyspark")
    except metadata.PackageNotFoundError:
        return f"pyspark is not installed; install it with {INSTALL}"
    if find_java(os.environ) is None:
        return "Spark needs Java 17: java is not in PATH, and JAVA_HOME has none"
    return None


def find_java(environment: Mapping[str, str]) -> str | None:
    """Return the program that Spark would run: that of JAVA_HOME, else the one in PATH; None without one."""
    home = environment.get("JAVA_HOME")
    if home and (found := shutil.which("java", path=str(Path(home, "bin")))):
        return found
    return shutil.which("java", path=environment.get("PATH"))
