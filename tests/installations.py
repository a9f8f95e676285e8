"""What tests install into ~/.cache/fauxka on first use."""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CACHE = Path.home() / ".cache" / "fauxka"
# pyspark is 300 to 450 MB, and its wheel is built here; programs of Rust are compiled with all of their crates.
INSTALL_SECONDS_MAX = 1700


def installed(folder: Path, made_of: str, install: Callable[[], None]) -> Path:
    """Return a folder of the cache. Calls install, with the folder deleted, if it is missing or made of something else.

    Another process that needs the same folder waits.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    stamp = folder / "made-of"
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != made_of:
            shutil.rmtree(folder, ignore_errors=True)
            install()
            stamp.write_text(made_of)
    return folder


def run_uv(*arguments: str) -> None:
    """Run uv: the one beside the Python of the tests, if there is one."""
    beside = Path(sys.executable).with_name("uv")
    program = str(beside) if beside.exists() else "uv"
    # Without the variables that uv sets for the environment of the tests.
    variables = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    ended = subprocess.run(
        [program, *arguments],
        env=variables,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=INSTALL_SECONDS_MAX,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
