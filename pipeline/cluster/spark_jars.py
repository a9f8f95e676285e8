"""Download of the jars of Spark's kafka format, each checked against its SHA-256.

`mvn` is used if it is installed, so that the user's mirrors apply. Otherwise the Ivy inside pyspark, which needs only
Java: DEFAULT_ARTIFACT_REPOSITORY (a variable of Spark) names a mirror for it, or IVY_SETTINGS a settings file.
`spark.jars.packages` is not used: it checks no SHA-256 and fails on an incomplete local Maven folder.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from ...storage.file_systems.path_problems import find_path_problem
from ..bad_option import BadOption
from .spark_jar_lock import LOCKS, Jar, Lock

# About 7 MB over a slow line.
FETCH_SECONDS_MAX = 600
# The end of a failed command's output, in an error message of one line.
OUTPUT_CHARACTERS_MAX = 600

INSTALL = "pip install 'fauxka[spark]'"


def installed_series() -> str:
    """Return the series of the installed pyspark, such as "4.2". Raises BadOption if LOCKS does not contain it."""
    try:
        version = importlib.metadata.version("pyspark")
    except importlib.metadata.PackageNotFoundError:
        raise BadOption(f"pyspark is not installed; install it with {INSTALL}") from None
    series = ".".join(version.split(".")[:2])
    if series not in LOCKS:
        raise BadOption(f"pyspark {version} is not supported; supported series are {', '.join(sorted(LOCKS))}")
    return series


def jar_folder(destination: Path | None = None) -> Path:
    """Return the folder for the jars of the installed pyspark; it need not exist."""
    return (destination or Path.home() / ".cache" / "spark-kafka-jars" / installed_series()).absolute()


def fetch_jars(destination: Path | None = None, ways: Sequence[str] = ("mvn", "ivy")) -> list[Path]:
    """Return the paths of the four jars for the installed pyspark, and download the missing ones.

    destination: default ~/.cache/spark-kafka-jars/<series>. ways: keys of WAYS, tried in order.
    Raises BadOption with the outcome of each way if a jar is still missing or has another SHA-256.
    """
    lock = LOCKS[installed_series()]
    folder = jar_folder(destination)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadOption(find_path_problem(folder, error) or f"{folder}: {error.strerror}") from None
    tried: list[str] = []
    for way in ways:
        if not _missing(lock, folder):
            break
        tried.append(f"{way}: {WAYS[way](lock, folder)}")
    missing = [jar.file_name for jar in _missing(lock, folder)]
    if missing:
        raise BadOption(f"missing or different in {folder}: {', '.join(missing)}; tried {'; '.join(tried)}")
    return [folder / jar.file_name for jar in lock.jars]


def _missing(lock: Lock, folder: Path) -> list[Jar]:
    return [jar for jar in lock.jars if not jar.is_in(folder)]


def _by_maven(lock: Lock, folder: Path) -> str:
    maven = os.environ.get("MVN") or shutil.which("mvn")
    if maven is None:
        return "not installed"
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch, "pom.xml")
        project.write_text(maven_project(lock))
        command = [maven, "-q", "-B", "-f", str(project), "dependency:copy-dependencies", f"-DoutputDirectory={folder}"]
        return _run(command)


def maven_project(lock: Lock) -> str:
    """Return a Maven project that depends on the jars without their dependencies."""
    dependencies = "".join(
        f"<dependency><groupId>{jar.group}</groupId><artifactId>{jar.artifact}</artifactId>"
        f"<version>{jar.version}</version><exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId>"
        "</exclusion></exclusions></dependency>"
        for jar in lock.jars
    )
    head = (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>local</groupId>'
    )
    name = "<artifactId>spark-kafka-jars</artifactId><version>1</version><packaging>pom</packaging>"
    return f"{head}{name}<dependencies>{dependencies}</dependencies></project>"


def _by_ivy(lock: Lock, folder: Path) -> str:
    ivy = next((pyspark_folder() / "jars").glob("ivy-*.jar"), None)
    java = shutil.which("java")
    if ivy is None or java is None:
        return "no java" if java is None else "no ivy in pyspark/jars"
    with tempfile.TemporaryDirectory() as scratch:
        module = Path(scratch, "ivy.xml")
        module.write_text(ivy_module(lock))
        pattern = str(folder / "[artifact]-[revision].[ext]")
        command = [java, "-jar", str(ivy), "-ivy", str(module), "-cache", f"{scratch}/cache"]
        command += ["-types", "jar", "bundle", "-retrieve", pattern]
        return _run(command + _ivy_settings(Path(scratch, "settings.xml")))


def ivy_module(lock: Lock) -> str:
    """Return an Ivy module that depends on the jars without their dependencies."""
    dependencies = "".join(
        f'<dependency org="{jar.group}" name="{jar.artifact}" rev="{jar.version}" transitive="false"'
        ' conf="*->master,runtime,default"/>'
        for jar in lock.jars
    )
    head = '<ivy-module version="2.0"><info organisation="local" module="jars"/>'
    return f"{head}<dependencies>{dependencies}</dependencies></ivy-module>"


def _ivy_settings(file: Path) -> list[str]:
    given = os.environ.get("IVY_SETTINGS")
    if given:
        return ["-settings", given]
    mirror = os.environ.get("DEFAULT_ARTIFACT_REPOSITORY")
    if not mirror:
        return []
    resolver = f'<ibiblio name="mirror" m2compatible="true" root="{mirror.rstrip("/")}/"/>'
    head = '<ivysettings><settings defaultResolver="mirror"/>'
    file.write_text(f"{head}<resolvers>{resolver}</resolvers></ivysettings>")
    return ["-settings", str(file)]


def pyspark_folder() -> Path:
    """Return the folder of pyspark without importing it, which takes a second."""
    found = importlib.util.find_spec("pyspark")
    assert found is not None and found.origin is not None, "installed_series has found pyspark"
    return Path(found.origin).parent


def _run(command: Sequence[str]) -> str:
    """Run a command; return its exit code and, if it failed, the end of its output."""
    try:
        finished = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_SECONDS_MAX, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    output = (finished.stdout + finished.stderr)[-OUTPUT_CHARACTERS_MAX:] if finished.returncode != 0 else ""
    return f"exit code {finished.returncode} {output}".strip()


WAYS: dict[str, Callable[[Lock, Path], str]] = {"mvn": _by_maven, "ivy": _by_ivy}
