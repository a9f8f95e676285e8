"""The folder of a hunt's findings: what an earlier hunt has not written stays."""

from pathlib import Path

from fauxka.testing.hunting.reproduction import CALLS_FILE, RULES_FILE, RUN_FILE, remove_findings


def write_finding(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name in (RULES_FILE, CALLS_FILE, RUN_FILE, f"test_finding_{folder.name}.py"):
        (folder / name).write_text("written by a hunt")
    return folder


def test_finding_is_removed_with_its_folder(tmp_path: Path) -> None:
    write_finding(tmp_path / "1")

    remove_findings(tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_notes_of_a_person_stay_with_the_folder(tmp_path: Path) -> None:
    (write_finding(tmp_path / "1") / "notes.txt").touch()

    remove_findings(tmp_path)

    assert [path.name for path in (tmp_path / "1").iterdir()] == ["notes.txt"]


def test_link_in_the_place_of_a_findings_folder_is_not_followed(tmp_path: Path) -> None:
    elsewhere = write_finding(tmp_path / "elsewhere" / "1")
    before = sorted(path.name for path in elsewhere.iterdir())
    output = tmp_path / "output"
    output.mkdir()
    (output / "1").symlink_to(elsewhere)

    remove_findings(output)

    assert sorted(path.name for path in elsewhere.iterdir()) == before
    assert (output / "1").is_symlink()
