"""An environment for each pyspark version, in a cache folder, with the packages of `pip install 'fauxka[spark]'`.

The package itself is that of the checkout.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from ..serving_process import Ended, run

ROOT = Path(__file__).parents[2]
CACHE = Path.home() / ".cache" / "fauxka"
# pyspark is 300 to 450 MB, and its wheel is built here.
INSTALL_SECONDS_MAX = 900


@dataclass(frozen=True)
class SparkVersion:
    """A pyspark version, and its Python if the one of the tests is too new."""

    pyspark: str
    python: str = sys.executable

    @property
    def has_data_sources(self) -> bool:
        return not self.pyspark.startswith("3.")


@dataclass(frozen=True)
class Environment:
    """An installed environment."""

    version: SparkVersion
    python: Path

    def run(self, *arguments: str, seconds_max: float) -> Ended:
        """Run its Python, to which the checkout is the package."""
        variables = {"PYTHONPATH": str(ROOT / "src"), "PYSPARK_PYTHON": str(self.python)}
        return run(*arguments, command=[str(self.python)], variables=variables, seconds_max=seconds_max)


def environment_of(version: SparkVersion) -> Environment:
    """Return the environment of a version. Creates it if it is missing or its packages have changed."""
    wanted = hashlib.sha256(f"{version} {(ROOT / 'pyproject.toml').read_text()}".encode()).hexdigest()
    folder = CACHE / f"pyspark-{version.pyspark}"
    stamp = folder / "made-of"
    if not stamp.exists() or stamp.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        _uv("venv", "--quiet", "--python", version.python, str(folder))
        _uv(
            *("pip", "install", "--quiet", "--python", str(folder / "bin" / "python")),
            *("--requirements", str(ROOT / "pyproject.toml"), "--extra", "spark", f"pyspark=={version.pyspark}"),
        )
        stamp.write_text(wanted)
    return Environment(version, folder / "bin" / "python")


def _uv(*arguments: str) -> None:
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
