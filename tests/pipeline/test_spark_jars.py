"""The jars of Spark's kafka format: downloaded once, and checked."""

import hashlib
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.cluster import spark_jars
from fauxka.pipeline.cluster.spark_jar_lock import LOCKS, Jar, Lock

CONTENT = b"what a jar holds"
NAMES = ("connector", "token-provider", "kafka-clients", "commons-pool2")


@pytest.fixture
def lock(monkeypatch: pytest.MonkeyPatch) -> Lock:
    """Four jars with the same content, for the installed pyspark or none."""
    jars = (Jar("local", name, "1", hashlib.sha256(CONTENT).hexdigest()) for name in NAMES)
    lock = Lock("2.13", *jars)
    monkeypatch.setitem(LOCKS, "0.0", lock)
    monkeypatch.setattr(spark_jars, "installed_series", lambda: "0.0")
    return lock


def maven_that(folder: Path, *, writes: bytes, names: tuple[str, ...]) -> Path:
    """Return a replacement for Maven that writes files to the output folder, and its arguments beside them."""
    program = folder / "mvn"
    program.write_text(
        f"#!{sys.executable}\n"
        "import pathlib, sys\n"
        "out = pathlib.Path(next(a for a in sys.argv if a.startswith('-DoutputDirectory=')).partition('=')[2])\n"
        f"for name in {names!r}:\n    (out / f'{{name}}-1.jar').write_bytes({writes!r})\n"
        "project = pathlib.Path(sys.argv[sys.argv.index('-f') + 1]).read_text()\n"
        "(out / 'asked').write_text(project)\n"
        "sys.exit('the last words')\n"
    )
    program.chmod(0o755)
    return program


def test_jars_are_downloaded_by_maven_and_checked(lock: Lock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MVN", str(maven_that(tmp_path, writes=CONTENT, names=NAMES)))

    fetched = spark_jars.fetch_jars(tmp_path / "jars")

    assert fetched == [tmp_path / "jars" / f"{name}-1.jar" for name in NAMES]
    assert (tmp_path / "jars" / "asked").read_text() == spark_jars.maven_project(lock)


def test_present_jars_are_not_downloaded_again(lock: Lock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for jar in lock.jars:
        (tmp_path / jar.file_name).write_bytes(CONTENT)
    monkeypatch.setenv("MVN", "/no/such/program")

    assert len(spark_jars.fetch_jars(tmp_path)) == 4


def test_a_jar_of_another_sum_is_refused(lock: Lock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MVN", str(maven_that(tmp_path, writes=b"another", names=NAMES[:1])))

    with pytest.raises(BadOption) as raised:
        spark_jars.fetch_jars(tmp_path / "jars", ["mvn"])

    words = str(raised.value)
    assert words.startswith(f"missing or different in {tmp_path}/jars: {', '.join(f'{name}-1.jar' for name in NAMES)};")
    assert words.endswith("tried mvn: exit code 1 the last words")


def test_a_missing_tool_is_reported(lock: Lock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MVN", "/no/such/program")

    with pytest.raises(BadOption, match=r"tried mvn: .*No such file"):
        spark_jars.fetch_jars(tmp_path, ["mvn"])


@pytest.mark.parametrize("series", sorted(LOCKS))
def test_both_tools_request_the_locked_versions_without_dependencies(series: str) -> None:
    lock = LOCKS[series]
    wanted = {(jar.group, jar.artifact, jar.version) for jar in lock.jars}

    space = "{http://maven.apache.org/POM/4.0.0}"
    project = ElementTree.fromstring(spark_jars.maven_project(lock))
    of_maven = list(project.iter(f"{space}dependency"))
    of_ivy = list(ElementTree.fromstring(spark_jars.ivy_module(lock)).iter("dependency"))

    names = ("groupId", "artifactId", "version")
    assert {tuple(one.findtext(f"{space}{name}") for name in names) for one in of_maven} == wanted
    assert all(one.find(f"{space}exclusions") is not None for one in of_maven)
    assert {(one.get("org"), one.get("name"), one.get("rev")) for one in of_ivy} == wanted
    assert all(one.get("transitive") == "false" for one in of_ivy)
