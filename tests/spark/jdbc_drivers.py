"""The jars of JDBC drivers, which Maven downloads on first use."""

import shutil
from pathlib import Path

from ..installations import CACHE, INSTALL_SECONDS_MAX, installed
from ..projects import run_in_project
from ..runtimes import need
from ..serving_process import environment

_PROJECT = Path(__file__).parent / "jdbc"
_DOWNLOAD = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"


def driver_jar(artifact: str) -> Path:
    """Return the jar of a driver. Skips the test without Maven."""
    need("mvn", group="a driver of JDBC")
    folder = CACHE / "jdbc-drivers"

    def install() -> None:
        shutil.copytree(_PROJECT, folder)
        options = ("-DincludeScope=runtime", "-DoutputDirectory=jars")
        run_in_project(folder, environment(), "mvn", "-q", "-B", _DOWNLOAD, *options, seconds_max=INSTALL_SECONDS_MAX)

    installed(folder, (_PROJECT / "pom.xml").read_text(), install)
    (jar,) = (folder / "jars").glob(f"{artifact}-*.jar")
    return jar
