"""The package as a zip file for the workers of a cluster."""

import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.cluster.spark_archive import write_archive

from ..serving_process import run

ROOT = Path(__file__).parents[2]


def modules_of(part: str) -> set[str]:
    return {f"fauxka/{path.relative_to(ROOT)}" for path in (ROOT / part).rglob("*.py")}


def packages_here() -> Path:
    numpy = find_spec("numpy")
    assert numpy is not None and numpy.origin is not None
    return Path(numpy.origin).parents[1]


def python_with(archive: Path, program: str) -> subprocess.CompletedProcess[str]:
    """Run a program with the archive and the packages installed beside numpy, but without .pth files."""
    paths = f"import sys; sys.path[1:1] = [{str(archive)!r}]; sys.path.append({str(packages_here())!r})"
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"{paths}\n{program}"],
        cwd=archive.parent,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_archive_has_exactly_the_parts_that_the_pipeline_imports(tmp_path: Path) -> None:
    write_archive(tmp_path / "fauxka.zip")

    with zipfile.ZipFile(tmp_path / "fauxka.zip") as archive:
        names = set(archive.namelist())
    parts = ("pipeline", "client", "security", "protocol", "storage")
    assert names == {"fauxka/__init__.py", "fauxka/rare_parts.py"}.union(*map(modules_of, parts))


def test_the_same_code_is_the_same_archive(tmp_path: Path) -> None:
    write_archive(tmp_path / "first.zip")
    write_archive(tmp_path / "second.zip")

    assert (tmp_path / "first.zip").read_bytes() == (tmp_path / "second.zip").read_bytes()


def test_a_python_without_the_package_writes_the_same_archive_from_it(tmp_path: Path) -> None:
    archive, again = tmp_path / "fauxka.zip", tmp_path / "again.zip"
    write_archive(archive)
    program = (
        "from pathlib import Path\n"
        "from fauxka.pipeline.cluster.spark_archive import write_archive\n"
        f"write_archive(Path({str(again)!r}))\n"
        "import fauxka\nprint(fauxka.__file__)"
    )

    ended = python_with(archive, program)

    assert (ended.returncode, ended.stdout) == (0, f"{archive}/fauxka/__init__.py\n"), ended.stderr
    assert again.read_bytes() == archive.read_bytes()


def test_the_command_prints_the_name(tmp_path: Path) -> None:
    ended = run("spark-archive", str(tmp_path / "lib.zip"))

    assert (ended.exit_code, ended.output) == (0, f"{tmp_path}/lib.zip\n"), ended.log
    assert zipfile.is_zipfile(tmp_path / "lib.zip")


def test_a_name_that_is_not_a_zip_file_is_refused(tmp_path: Path) -> None:
    ended = run("spark-archive", str(tmp_path / "lib"))

    assert (ended.exit_code, ended.log) == (
        2,
        f"fauxka: {tmp_path}/lib: the name must end in .zip, because Spark imports only from such files\n",
    )


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match=r"nowhere/fauxka.zip: No such file"):
        write_archive(tmp_path / "nowhere" / "fauxka.zip")
