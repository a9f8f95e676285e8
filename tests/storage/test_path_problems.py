"""Sentences about paths that cannot be used."""

from pathlib import Path

import pytest

from fauxka.storage.file_systems.path_problems import find_file_in_the_way, find_path_problem


@pytest.mark.parametrize("below", ["", "/below", "/far/below"])
def test_file_in_the_place_of_a_folder_is_named(tmp_path: Path, below: str) -> None:
    file = tmp_path / "file"
    file.write_text("")

    assert find_file_in_the_way(f"{file}{below}") == f"{file} is a file, not a folder"


@pytest.mark.parametrize("path", ["", "/new", "/new/below/"])
def test_folder_that_exists_or_can_be_created_is_no_problem(tmp_path: Path, path: str) -> None:
    assert find_file_in_the_way(f"{tmp_path}{path}") is None


def test_relative_path_is_resolved_in_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.chdir(tmp_path)

    assert find_file_in_the_way("file/below") == "file is a file, not a folder"
    assert find_file_in_the_way("new/below") is None


def test_what_is_neither_file_nor_folder_is_named() -> None:
    assert find_file_in_the_way("/dev/null/below") == "/dev/null is not a folder"


def test_folder_in_the_place_of_a_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(OSError) as refused:
        tmp_path.read_text()

    assert find_path_problem(tmp_path, refused.value) == f"{tmp_path} is a folder, not a file"


def test_any_other_error_has_no_sentence(tmp_path: Path) -> None:
    with pytest.raises(OSError) as refused:
        (tmp_path / "none").read_text()

    assert find_path_problem(tmp_path / "none", refused.value) is None
