"""The jars of JDBC drivers and table formats, which Maven downloads on first use."""

import shutil
from pathlib import Path

from ..installations import CACHE, INSTALL_SECONDS_MAX, installed
from ..projects import run_in_project
from ..runtimes import need
from ..serving_process import environment

_PROJECTS = Path(__file__).parent
_DOWNLOAD = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
# Spark has all other jars that Delta Lake needs.
_GROUPS = {"delta": "io.delta"}


def driver_jar(artifact: str) -> Path:
    """Return the jar of a driver. Skips the test without Maven."""
    (jar,) = (path for path in _jars("jdbc", "drivers of JDBC") if path.name.startswith(f"{artifact}-"))
    return jar


def format_jars(name: str) -> str:
    """Return the jars of a table format for spark.jars. Skips the test without Maven."""
    return ",".join(map(str, _jars(name, f"tables of {name}")))


def _jars(name: str, group: str) -> list[Path]:
    """Return the jars of the project of that name."""
    need("mvn", group=group)
    project, folder = _PROJECTS / name, CACHE / f"{name}-jars"

    def install() -> None:
        shutil.copytree(project, folder)
        groups = [f"-DincludeGroupIds={_GROUPS[name]}"] if name in _GROUPS else []
        options = ("-DincludeScope=runtime", "-DoutputDirectory=jars", *groups)
        run_in_project(folder, environment(), "mvn", "-q", "-B", _DOWNLOAD, *options, seconds_max=INSTALL_SECONDS_MAX)

    installed(folder, (project / "pom.xml").read_text(), install)
    return sorted((folder / "jars").glob("*.jar"))
