"""An environment for each pyspark version, in a cache folder, with the packages of the extras `spark` and `connect`.

The package itself is that of the checkout.
"""

import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path

from ..installations import CACHE, ROOT, installed, run_uv
from ..serving_process import Ended, run


@dataclass(frozen=True)
class SparkVersion:
    """A pyspark version, and its Python if the one of the tests is too new."""

    pyspark: str
    python: str = sys.executable

    @property
    def has_data_sources(self) -> bool:
        return not self.pyspark.startswith("3.")

    @property
    def extras(self) -> tuple[str, ...]:
        return ("spark", "connect") if self.has_data_sources else ("spark",)


@dataclass(frozen=True)
class Environment:
    """An installed environment."""

    version: SparkVersion
    python: Path

    @property
    def home(self) -> Path:
        """The folder of its pyspark."""
        (found,) = self.python.parents[1].glob("lib/python*/site-packages/pyspark")
        return found

    def run(self, *arguments: str, seconds_max: float) -> Ended:
        """Run its Python, to which the checkout is the package."""
        variables = {"PYTHONPATH": str(ROOT / "src"), "PYSPARK_PYTHON": str(self.python)}
        return run(*arguments, command=[str(self.python)], variables=variables, seconds_max=seconds_max)


def environment_of(version: SparkVersion) -> Environment:
    """Return the environment of a version. Creates it if it is missing or its packages have changed."""
    wanted = hashlib.sha256(f"{version} {version.extras} {(ROOT / 'pyproject.toml').read_text()}".encode()).hexdigest()
    folder = CACHE / f"pyspark-{version.pyspark}"
    python = folder / "bin" / "python"

    def install() -> None:
        run_uv("venv", "--quiet", "--python", version.python, str(folder))
        run_uv(
            *("pip", "install", "--quiet", "--python", str(python)),
            *("--requirements", str(ROOT / "pyproject.toml"), f"pyspark=={version.pyspark}"),
            *(word for extra in version.extras for word in ("--extra", extra)),
        )

    installed(folder, wanted, install)
    return Environment(version, python)
