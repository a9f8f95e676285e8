"""Commands in the projects of other languages: npm, go, mvn."""

import subprocess
from collections.abc import Mapping
from pathlib import Path


def run_in_project(folder: Path, variables: Mapping[str, str], *command: str, seconds_max: float) -> str:
    """Run a command in a folder with these environment variables, and return its output; it has to succeed."""
    ended = subprocess.run(
        command,
        cwd=folder,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds_max,
        check=False,
    )
    assert ended.returncode == 0, f"{' '.join(command)}:\n{ended.stdout[-6000:]}"
    return ended.stdout
