"""Bring the four jars that PySpark lacks for format("kafka"), and print their folder.

The versions are locked to the installed pyspark and each jar is checked against its SHA-256; a second run only checks.
The jars come by `mvn` where there is one, so that the user's own mirrors apply, or by the Ivy inside pyspark, which
needs only Java: DEFAULT_ARTIFACT_REPOSITORY, Spark's own variable, names a mirror for it, or IVY_SETTINGS a settings
file. `spark.jars.packages` checks no sums, and fails on a half-filled local Maven folder.

    python tools/spark_jars.py [--dest FOLDER] [--via mvn|ivy]
"""

import argparse
import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

POM = Path(__file__).parent / "spark_jars.pom.xml"

# A fetch over a slow line; it is about 7 MB.
FETCH_SECONDS_MAX = 600


@dataclass(frozen=True, slots=True)
class Jar:
    """One artifact of a Maven repository."""

    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        """The name that both Maven and our Ivy pattern give it."""
        return f"{self.artifact}-{self.version}.jar"

    def is_in(self, folder: Path) -> bool:
        """Tell whether the folder has exactly this jar."""
        path = folder / self.file_name
        return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == self.sha256


@dataclass(frozen=True, slots=True)
class Lock:
    """What one series of pyspark needs."""

    scala: str
    connector: Jar
    token_provider: Jar
    kafka_clients: Jar
    commons_pool: Jar

    @property
    def jars(self) -> list[Jar]:
        """All four."""
        return [self.connector, self.token_provider, self.kafka_clients, self.commons_pool]


def _lock(scala: str, versions: tuple[str, str, str, str], sums: tuple[str, str, str, str]) -> Lock:
    places = (
        ("org.apache.spark", f"spark-sql-kafka-0-10_{scala}"),
        ("org.apache.spark", f"spark-token-provider-kafka-0-10_{scala}"),
        ("org.apache.kafka", "kafka-clients"),
        ("org.apache.commons", "commons-pool2"),
    )
    connector, token_provider, kafka_clients, commons_pool = (
        Jar(group, artifact, version, sha256)
        for (group, artifact), version, sha256 in zip(places, versions, sums, strict=True)
    )
    return Lock(scala, connector, token_provider, kafka_clients, commons_pool)


# The connector of 4.2.0 with the token provider of 4.0.0 serves 4.1 to 4.3: tried with each.
SPARK_4_2 = _lock(
    "2.13",
    ("4.2.0", "4.0.0", "3.9.2", "2.13.1"),
    (
        "64539c45e5d39f7ddb747312c239f38f5208d08c1a0ddf7d70beb2fbd9373705",
        "f2be3b76f9e6cbe63379d4e4e0dc14f59dbf056ae2ad16ff15ac108004c86767",
        "014b4ef36884478a932641818b080c36a8f8e2e92dc771e800c9d2694f4f83d8",
        "f77a5060d6936a9144023584232f9de3f2248f1abfe156e9d31795f18770674f",
    ),
)
LOCKS = {
    "3.5": _lock(
        "2.12",
        ("3.5.7", "3.5.7", "3.4.1", "2.11.1"),
        (
            "184f8bd4a3cd22299c49090d88b894f81fd7546b4ee64879519a0d76a685dbb8",
            "9701914db5c6d09628b58d2d2c1ccd2c9ea28f32f83dd6cb21f98b8237531ff4",
            "9d0a9058c8ede79db6e54ae378ed16fe8d1bead2894635a4aa6aa0b7981668c6",
            "ea0505ee7515e58b1ac0e686e4d1a5d9f7d808e251a61bc371aa0595b9963f83",
        ),
    ),
    "4.0": _lock(
        "2.13",
        ("4.0.0", "4.0.0", "3.9.0", "2.12.0"),
        (
            "33a3b8b04df4a2e43c9d5bf8ca5972936a1ac662f2714e014d00ef6f27468bf3",
            "f2be3b76f9e6cbe63379d4e4e0dc14f59dbf056ae2ad16ff15ac108004c86767",
            "15c1e137f2c2c94398e27abc4060a03b6bde10bf9fac15e8f70c02320b202f18",
            "6d3bd18df8410f3e31b031aca582cc109342358a62a2759ebd0c4cdf30d06f8b",
        ),
    ),
    "4.1": SPARK_4_2,
    "4.2": SPARK_4_2,
    "4.3": SPARK_4_2,
}


class FetchError(Exception):
    """The jars could not be had; the message says what was tried."""


def installed_series() -> str:
    """Return the series of the installed pyspark, such as "4.2". Raises FetchError where it has no lock."""
    try:
        version = importlib.metadata.version("pyspark")
    except importlib.metadata.PackageNotFoundError as error:
        raise FetchError("pyspark is not installed") from error
    series = ".".join(version.split(".")[:2])
    if series not in LOCKS:
        raise FetchError(f"no jars are locked for pyspark {version}; known are {', '.join(sorted(LOCKS))}")
    return series


def jars(destination: Path | None = None, via: Sequence[str] = ("mvn", "ivy")) -> list[Path]:
    """Return the paths of the four jars for the installed pyspark, fetched where they are missing.

    destination: ~/.cache/spark-kafka-jars/<series> unless said otherwise. via: the ways to try, in order.
    Raises FetchError when a jar is still missing or has another sum.
    """
    series = installed_series()
    lock = LOCKS[series]
    folder = (destination or Path.home() / ".cache" / "spark-kafka-jars" / series).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    tried: list[str] = []
    for way in via:
        if not _missing(lock, folder):
            break
        tried.append(f"{way}: {WAYS[way](lock, folder)}")
    missing = [jar.file_name for jar in _missing(lock, folder)]
    if missing:
        raise FetchError(f"missing or different in {folder}: {', '.join(missing)}; tried {'; '.join(tried)}")
    return [folder / jar.file_name for jar in lock.jars]


def _missing(lock: Lock, folder: Path) -> list[Jar]:
    return [jar for jar in lock.jars if not jar.is_in(folder)]


def _by_maven(lock: Lock, folder: Path) -> str:
    maven = os.environ.get("MVN") or shutil.which("mvn")
    if maven is None:
        return "not installed"
    versions = {
        "scala": lock.scala,
        "connector": lock.connector.version,
        "token_provider": lock.token_provider.version,
        "kafka_clients": lock.kafka_clients.version,
        "commons_pool": lock.commons_pool.version,
    }
    return _run(
        [maven, "-q", "-B", "-f", str(POM), "dependency:copy-dependencies", f"-DoutputDirectory={folder}"]
        + [f"-D{name}={version}" for name, version in versions.items()]
        + os.environ.get("SPARK_KAFKA_MVN_ARGS", "").split()
    )


def _by_ivy(lock: Lock, folder: Path) -> str:
    ivy = next((_pyspark_folder() / "jars").glob("ivy-*.jar"), None)
    if ivy is None:
        return "no ivy in pyspark/jars"
    with tempfile.TemporaryDirectory() as scratch:
        module = Path(scratch, "ivy.xml")
        module.write_text(_ivy_module(lock))
        pattern = str(folder / "[artifact]-[revision].[ext]")
        command = ["java", "-jar", str(ivy), "-ivy", str(module), "-cache", f"{scratch}/cache"]
        command += ["-types", "jar", "bundle", "-retrieve", pattern]
        return _run(command + _ivy_settings(Path(scratch, "settings.xml")))


def _ivy_module(lock: Lock) -> str:
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


def _pyspark_folder() -> Path:
    """Return where pyspark is, without the second that its import takes."""
    found = importlib.util.find_spec("pyspark")
    assert found is not None and found.origin is not None, "pyspark was asked for its version before"
    return Path(found.origin).parent


def _run(command: Sequence[str]) -> str:
    """Run quietly; return the exit code, with the last of what a failed command said."""
    finished = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_SECONDS_MAX)
    said = (finished.stdout + finished.stderr)[-1000:] if finished.returncode != 0 else ""
    return f"exit code {finished.returncode} {said}".strip()


WAYS: dict[str, Callable[[Lock, Path], str]] = {"mvn": _by_maven, "ivy": _by_ivy}


def main() -> int:
    """Fetch, and print the folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--dest", type=Path, help="folder for the jars; ~/.cache/spark-kafka-jars/<series> otherwise")
    parser.add_argument("--via", choices=sorted(WAYS), help="only this way")
    options = parser.parse_args()
    try:
        fetched = jars(options.dest, [options.via] if options.via else ["mvn", "ivy"])
    except FetchError as error:
        print(error, file=sys.stderr)
        return 1
    print(fetched[0].parent)
    return 0


if __name__ == "__main__":
    sys.exit(main())
