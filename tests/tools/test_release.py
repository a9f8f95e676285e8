"""tools/release: the table, the files beside the artefacts, the tests of wheels, and the comparison of builds."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.tags import platform_tags

from tools.release import installed_checks, interpreters
from tools.release.builds import Source
from tools.release.check import check_wheels, format_report, missing_row, python_of_wheel, rows_elsewhere
from tools.release.comparison import different_files, normalize_sdist
from tools.release.components import LIST_PACKAGES, Component, components_of_debian, components_of_python
from tools.release.evidence import bill_of_materials, checksums, licences, provenance, write_digests, write_materials
from tools.release.installation import Installation, make_programs
from tools.release.installed_checks import (
    FREE_PORTS,
    OWN_CLIENT,
    OWN_CLIENT_OUTPUT,
    check_installed,
    first_program,
    run_check,
)
from tools.release.steps import ROOT, StepError, expect, run_step
from tools.release.table import Row, Seconds, exit_code, format_table

from ..serving_process import run

EPOCH = 1_796_040_450
SUBJECT = Component("fauxka", "0.1.0", "Apache-2.0", "pkg:pypi/fauxka@0.1.0")
CLICK = Component("click", "8.5.1", "BSD-3-Clause", "pkg:pypi/click@8.5.1")
LIBC = Component("libc6", "2.36-9", "", "pkg:deb/debian/libc6@2.36-9?arch=amd64")
SOURCE = Source(ROOT, "09908db63ef77a9585e78490674acdd99847c82d", EPOCH, "0.1.0")


def passed_row() -> Row:
    installed_by = {"uv": Seconds(0.83, 0.3), "pip": Seconds(4.91, 3.62)}
    return Row("fauxka.whl", 2_248_513, installed_by, 0.449, ["version", "serve"])


def test_row_has_size_seconds_and_the_number_of_passed_tests() -> None:
    installed = "uv 0.8 s (0.3), pip 4.9 s (3.6)"
    assert passed_row().cells() == ("fauxka.whl", "2.2 MB", installed, "0.45 s", "2 passed")


def test_row_names_the_failed_tests_and_why_it_was_not_built() -> None:
    failed = Row("a", passed=["version"], failed={"demo": "exit code 1"})

    assert failed.cells()[-1] == "1 passed, FAILED: demo"
    assert Row("b", not_built="no such Python").cells()[-1] == "not built here: no such Python"


def test_lines_of_the_table_have_one_length() -> None:
    lines = format_table([passed_row(), Row("b", not_built="no such Python")]).splitlines()

    assert len(lines) == 4
    assert len({len(line) for line in lines}) == 1


@pytest.mark.parametrize(
    ("rows", "differences", "expected"),
    [
        ([passed_row(), Row("b", not_built="no root")], [], 0),
        ([passed_row(), Row("b", passed=["version"], failed={"demo": "?"})], [], 1),
        ([passed_row(), Row("b")], [], 1),
        ([passed_row()], ["METADATA of fauxka.whl"], 1),
        ([Row("b", not_built="no root")], [], 1),
    ],
    ids=["passed", "failed", "untested", "different", "nothing built"],
)
def test_exit_code_is_0_if_all_that_was_built_passed(rows: list[Row], differences: list[str], expected: int) -> None:
    assert exit_code(rows, differences) == expected


def test_report_has_each_difference_and_each_reason() -> None:
    report = format_report([Row("a", failed={"demo": "exit code 1"})], ["METADATA of fauxka.whl"])

    assert "differs between two builds: METADATA of fauxka.whl\n" in report
    assert "a, demo: exit code 1\n" in report
    assert "are equal" not in report


@pytest.mark.parametrize(("ci", "expected"), [("true", 1), ("", 0)])
def test_missing_program_is_a_failure_with_ci(ci: str, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", ci)

    assert exit_code([passed_row(), missing_row("wheel for Python 3.14", "no such Python")], []) == expected


def test_failed_check_is_in_the_row_with_its_reason() -> None:
    row = Row("a")

    run_check(row, "demo", lambda: expect(False, "no output"))
    run_check(row, "serve", lambda: os.stat("/no/file"))
    run_check(row, "version", lambda: expect(True, ""))

    assert row.failed["demo"] == "no output"
    assert "/no/file" in row.failed["serve"]
    assert row.passed == ["version"]


def test_failed_program_is_an_error_with_the_end_of_its_output() -> None:
    with pytest.raises(StepError, match=r"exit code 3\n.*the reason"):
        run_step(sys.executable, "-c", "import sys; print('the reason'); sys.exit(3)")


def test_missing_program_is_an_error() -> None:
    with pytest.raises(StepError, match="no-such-program"):
        run_step("no-such-program")


def test_programs_of_an_installation_have_no_compiler(tmp_path: Path) -> None:
    programs = make_programs(tmp_path / "programs")

    script = "command -v sleep && ! command -v cc && ! command -v gcc"
    ended = subprocess.run(["/bin/sh", "-c", script], env={"PATH": str(programs)}, check=False)

    assert ended.returncode == 0


def test_first_program_of_the_readme_is_that_of_its_first_minutes() -> None:
    assert first_program((ROOT / "README.md").read_text()).startswith(
        "from confluent_kafka import Consumer, Producer\n"
    )


def test_own_client_of_the_check_prints_what_the_check_expects() -> None:
    assert run_step(sys.executable, "-c", OWN_CLIENT, variables=dict(os.environ)) == OWN_CLIENT_OUTPUT


def artefacts_in(folder: Path) -> list[Path]:
    folder.mkdir(exist_ok=True)
    paths = [folder / "b.whl", folder / "a.tar.gz"]
    for path in paths:
        path.write_bytes(path.name.encode())
    return paths


def test_sha256sum_accepts_the_checksums(tmp_path: Path) -> None:
    (tmp_path / "SHA256SUMS").write_text(checksums(artefacts_in(tmp_path)))

    ended = subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=tmp_path, capture_output=True, text=True)

    assert (ended.returncode, ended.stdout) == (0, "a.tar.gz: OK\nb.whl: OK\n")


def test_bill_of_materials_has_each_package_once_and_the_subject_depends_on_it() -> None:
    document = json.loads(bill_of_materials(SUBJECT, [LIBC, SUBJECT, CLICK, CLICK], EPOCH))

    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert document["metadata"]["component"]["purl"] == SUBJECT.purl
    assert [part["purl"] for part in document["components"]] == [LIBC.purl, CLICK.purl]
    assert [part.get("licenses") for part in document["components"]] == [None, [{"license": {"name": "BSD-3-Clause"}}]]
    assert document["dependencies"] == [{"ref": SUBJECT.purl, "dependsOn": [LIBC.purl, CLICK.purl]}]


def test_bill_of_materials_of_the_same_packages_is_the_same() -> None:
    first = bill_of_materials(SUBJECT, [CLICK, LIBC], EPOCH)

    assert bill_of_materials(SUBJECT, [LIBC, CLICK], EPOCH) == first
    assert bill_of_materials(SUBJECT, [LIBC], EPOCH) != first


def test_licences_leave_out_packages_without_one() -> None:
    assert licences([LIBC, SUBJECT, CLICK]) == "click 8.5.1: BSD-3-Clause\nfauxka 0.1.0: Apache-2.0\n"


def test_packages_of_this_environment_have_versions_and_licences() -> None:
    found = components_of_python(run_step(sys.executable, "-c", LIST_PACKAGES))

    by_name = {part.name.lower(): part for part in found}
    assert by_name["click"].version == distribution("click").version
    assert by_name["click"].licence == "BSD-3-Clause"
    assert by_name["prometheus_client"].purl.startswith("pkg:pypi/prometheus-client@")
    assert "pip" not in by_name


def test_package_of_debian_has_its_architecture_and_escapes_its_epoch() -> None:
    (found,) = components_of_debian("zlib1g:amd64\t1:1.2.13\tamd64\n")

    assert (found.name, found.version) == ("zlib1g", "1:1.2.13")
    assert found.purl == "pkg:deb/debian/zlib1g@1%3A1.2.13?arch=amd64"


def statement(artefacts: list[Path]) -> Mapping[str, Any]:
    loaded: dict[str, Any] = json.loads(provenance(SOURCE, artefacts))
    return loaded


def test_provenance_has_the_digest_of_each_artefact_the_commit_and_the_locks(tmp_path: Path) -> None:
    found = statement(artefacts_in(tmp_path))

    assert found["predicateType"] == "https://slsa.dev/provenance/v1"
    assert found["subject"][1] == {"name": "b.whl", "digest": {"sha256": hashlib.sha256(b"b.whl").hexdigest()}}
    commit, *locks = found["predicate"]["buildDefinition"]["resolvedDependencies"]
    assert commit["digest"] == {"gitCommit": SOURCE.commit}
    assert {"requirements/build.txt", "requirements/installer.txt"} <= {lock["uri"] for lock in locks}


def test_provenance_of_the_same_artefacts_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    artefacts = artefacts_in(tmp_path)
    first = provenance(SOURCE, artefacts)

    monkeypatch.setattr("time.time", lambda: EPOCH + 3600.0)
    assert provenance(SOURCE, artefacts) == first
    artefacts[0].write_bytes(b"another build")
    assert provenance(SOURCE, artefacts) != first


def test_provenance_names_the_repository_of_a_workflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://forge")
    monkeypatch.setenv("GITHUB_REPOSITORY", "owner/fauxka")

    definition = statement(artefacts_in(tmp_path))["predicate"]["buildDefinition"]

    assert definition["externalParameters"]["repository"] == "https://forge/owner/fauxka"


def test_materials_have_no_image_where_none_was_built(tmp_path: Path) -> None:
    write_materials(SOURCE, [SUBJECT, CLICK], [], tmp_path)
    write_digests(SOURCE, artefacts_in(tmp_path / "dist"), tmp_path)

    names = sorted(path.name for path in tmp_path.iterdir() if path.is_file())
    assert names == ["LICENSES.txt", "SHA256SUMS", "fauxka-0.1.0.cdx.json", "provenance.json"]


def write_sdist(path: Path, names: list[str], mtime: int) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.uid, member.mode = len(name), mtime, mtime, 0o600
            archive.addfile(member, io.BytesIO(name.encode()))


def test_normalized_sources_do_not_depend_on_time_user_or_order(tmp_path: Path) -> None:
    first, second = tmp_path / "first.tar.gz", tmp_path / "second.tar.gz"
    write_sdist(first, ["f/b.py", "f/a.py"], 1)
    write_sdist(second, ["f/a.py", "f/b.py"], 2)

    for path in (first, second):
        normalize_sdist(path, EPOCH)

    assert first.read_bytes() == second.read_bytes()
    with tarfile.open(first) as archive:
        assert [(each.name, each.mtime, each.mode) for each in archive] == [
            ("f/a.py", EPOCH, 0o644),
            ("f/b.py", EPOCH, 0o644),
        ]


def write_wheel(path: Path, contents: Mapping[str, str]) -> None:
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            archive.writestr(zipfile.ZipInfo(name), content)


def test_different_member_of_a_wheel_is_named(tmp_path: Path) -> None:
    write_wheel(tmp_path / "one" / "f.whl", {"a.py": "1", "b.py": "2"})
    write_wheel(tmp_path / "two" / "f.whl", {"a.py": "1", "b.py": "3"})
    write_wheel(tmp_path / "two" / "g.whl", {})

    assert different_files(tmp_path / "one", tmp_path / "one") == []
    assert different_files(tmp_path / "one", tmp_path / "two") == ["b.py of f.whl", "g.whl is built once only"]


def test_interpreter_of_fauxka_pythons_is_found_and_a_missing_version_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAUXKA_PYTHONS", os.pathsep.join(["/no/python", sys.executable]))

    assert interpreters.find_interpreter(f"3.{sys.version_info.minor}") == Path(sys.executable)
    assert interpreters.find_interpreter("3.99") is None


def test_interpreter_that_does_not_end_is_not_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    waiting = tmp_path / "python"
    waiting.write_text("#!/bin/sh\nexec sleep 60\n")
    waiting.chmod(0o755)
    monkeypatch.setattr(interpreters, "START_SECONDS_MAX", 0.1)
    monkeypatch.setenv("FAUXKA_PYTHONS", str(waiting))

    assert interpreters.find_interpreter("3.99") is None


def test_doctor_of_the_check_needs_no_port_of_another_broker() -> None:
    ended = run("doctor", variables=FREE_PORTS)

    assert ended.exit_code == 0, ended.output
    assert "9092" not in ended.output


def test_wheel_of_another_system_is_not_tested() -> None:
    here = next(platform_tags())

    assert python_of_wheel(f"fauxka-0.1.0-cp312-cp312-{here}.whl") == "3.12"
    assert python_of_wheel("fauxka-0.1.0-cp312-cp312-win_amd64.whl") is None
    assert python_of_wheel("fauxka-0.1.0-py3-none-any.whl") is None


def test_wheels_that_cannot_be_installed_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAUXKA_PYTHONS", sys.executable)
    name = f"fauxka-0.1.0-cp3{sys.version_info.minor}-cp3{sys.version_info.minor}-{next(platform_tags())}.whl"
    write_wheel(tmp_path / name, {})

    assert check_wheels(tmp_path) == 1

    printed = capsys.readouterr().out
    assert f"| {name} |" in printed
    assert "FAILED: install" in printed
    assert "are equal" not in printed


def test_folder_without_a_wheel_of_this_machine_fails(tmp_path: Path) -> None:
    write_wheel(tmp_path / "fauxka-0.1.0-cp312-cp312-win_amd64.whl", {})

    assert check_wheels(tmp_path) == 1


def write_interpreter(path: Path, version: str, soabi: str | None) -> Path:
    """Write a program that answers as a Python of this version and platform would."""
    minor = version.removeprefix("3.")
    lines = [
        f"#!{sys.executable}",
        "import sys, sysconfig",
        f"sys.version_info, sys.executable = (3, {minor}, 0), {str(path)!r}",
        f"sysconfig.get_config_var = {{'SOABI': {soabi!r}}}.get",
        "exec(sys.argv[2])",
    ]
    path.write_text("\n".join(lines) + "\n")
    path.chmod(0o755)
    return path


def test_interpreter_for_musl_is_found_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    musl = write_interpreter(tmp_path / "musl", "3.98", "cpython-398-x86_64-linux-musl")
    glibc = write_interpreter(tmp_path / "glibc", "3.98", "cpython-398-x86_64-linux-gnu")
    windows = write_interpreter(tmp_path / "windows", "3.99", None)
    monkeypatch.setenv("FAUXKA_PYTHONS", os.pathsep.join(map(str, [musl, glibc, windows])))

    assert interpreters.find_interpreter("3.98") == glibc
    assert interpreters.find_interpreter("3.98", is_musl=True) == musl
    assert interpreters.find_interpreter("3.99") == windows
    assert interpreters.find_interpreter("3.99", is_musl=True) is None
    assert [interpreters.is_musl(each) for each in (musl, glibc, windows)] == [True, False, False]


def test_wheels_for_musl_are_built_elsewhere_for_the_pythons_that_are_not_here() -> None:
    rows = rows_elsewhere({"3.11": Path("/musl/python"), "3.12": None, "3.13": None})

    names = [row.artefact for row in rows]
    assert names[0] == "wheels musllinux x86_64 for Python 3.12, 3.13"
    assert names[1:] == [row.artefact for row in rows_elsewhere({"3.11": Path("/musl/python")})]
    assert all(row.not_built for row in rows)


def note_check(row: Row, name: str, check: Callable[[], object]) -> None:
    row.passed.append(name)


@pytest.mark.parametrize(("tag", "has_readme"), [("musllinux_1_2", False), ("manylinux_2_17", True)])
def test_client_of_the_readme_is_not_tried_on_musl(
    tag: str, has_readme: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = tmp_path / f"fauxka-0.1.0-cp311-cp311-{tag}_x86_64.whl"
    row = Row(wheel.name)
    monkeypatch.setattr(installed_checks, "run_check", note_check)

    check_installed(Installation(wheel, tmp_path / "python", tmp_path, ""), "0.1.0", row)

    assert ("readme" in row.passed) == has_readme
    assert {"version", "serve", "doctor", "demo", "own client", "pipx", "uvx"} <= set(row.passed)


def test_licence_of_mypyc_is_that_of_the_locked_mypy() -> None:
    (licence,) = [file for file in distribution("mypy").files or [] if file.parts[-2:] == ("licenses", "LICENSE")]

    assert (ROOT / "LICENSES" / "mypy.txt").read_text() == licence.read_text()
