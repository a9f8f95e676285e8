"""Segment files in a server that is none of Python's: it checks signatures and keeps its objects on a file system."""

import shutil
from collections.abc import Iterator

import pytest

from benchmarks.object_server import object_server
from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.read.store_address import open_store

from .logs_on_disk import GOLDEN, read
from .plain_rows import Row

pytestmark = [pytest.mark.go, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URI of a bucket with a log folder of Kafka."""
    folder = tmp_path_factory.mktemp("served")
    shutil.copytree(GOLDEN, folder / "logs" / "golden")
    with object_server(folder) as variables, pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        yield "s3://logs"


def without_file(rows: list[Row]) -> list[Row]:
    return [{name: value for name, value in row.items() if name != "file"} for row in rows]


@pytest.mark.parametrize("view", ["records", "batches"])
@pytest.mark.parametrize("place", ["golden", "golden/demo-0", "golden/demo-0/00000000000000000002.log", "golden/demo*"])
def test_the_rows_are_those_of_the_same_folder(bucket: str, place: str, view: str) -> None:
    options = {"view": view, "isolationLevel": "read_committed"}

    rows = read(path=f"{bucket}/{place}", **options)

    assert without_file(rows) == without_file(
        read(path=GOLDEN.parent / place.replace("golden", GOLDEN.name), **options)
    )
    assert rows != []


def test_a_wrong_key_is_one_line(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")

    open_store.cache_clear()

    with pytest.raises(BadOption, match=r"^path: s3://logs/golden cannot be read: [^\n]*signature[^\n]*$"):
        read(path=f"{bucket}/golden")
    open_store.cache_clear()
