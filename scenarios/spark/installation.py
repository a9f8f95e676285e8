"""Whether Spark can run on this machine. The pipeline checks the same in its own process, when a job starts."""

from __future__ import annotations

import os
import shutil
from importlib import metadata
from pathlib import Path

INSTALL = "pip install 'fauxka[spark]'"


def find_missing_part() -> str | None:
    """Return what Spark lacks here, and how to get it, as one line; None if nothing is missing."""
    try:
        metadata.version("pyspark")
    except metadata.PackageNotFoundError:
        return f"pyspark is not installed; install it with {INSTALL}"
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and Path(home, "bin", "java").exists()):
        return "Spark needs Java 17: java is not in PATH, and JAVA_HOME has none"
    return None
