"""tools/release: the tag of a release, compared with the versions of the files and with the changelog."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tools.release.steps import ROOT, StepError
from tools.release.tag_check import FIELDS, WITH_IMAGE, check_tag


@pytest.fixture
def tagged(tmp_path: Path) -> Path:
    """A checkout of the files that a tag is compared with, and a changelog with a date."""
    for name in FIELDS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for name in WITH_IMAGE:
        if (ROOT / name).is_file():
            shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 0.1.0 - 2026-12-01\n\n### Added\n")
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    subprocess.run(["git", "add", "--all"], cwd=tmp_path, check=True)
    return tmp_path


def test_tag_of_the_version_is_accepted(tagged: Path) -> None:
    check_tag(tagged, "v0.1.0")


@pytest.mark.parametrize("name", [*FIELDS, "fauxka_container.py"])
def test_file_with_another_version_than_the_tag_is_named(tagged: Path, name: str) -> None:
    file = tagged / name
    file.write_text(file.read_text().replace("0.1.0", "0.1.1"))

    with pytest.raises(StepError, match=rf"\n{name}:.* expected (fauxka:)?(version )?0\.1\.0"):
        check_tag(tagged, "v0.1.0")


@pytest.mark.parametrize("title", ["0.1.0 - unreleased", "0.1.0", "0.2.0 - 2026-12-01"])
def test_changelog_without_the_date_of_the_version_is_named(tagged: Path, title: str) -> None:
    (tagged / "CHANGELOG.md").write_text(f"# Changelog\n\n## {title}\n\n## 0.1.0 - 2026-12-01\n")

    with pytest.raises(StepError, match=f'CHANGELOG.md: "{title}", expected "0.1.0 - " and a date'):
        check_tag(tagged, "v0.1.0")


@pytest.mark.parametrize("tag", ["0.1.0", "v0.1", "v", ""])
def test_tag_of_another_form_is_an_error_of_one_line(tagged: Path, tag: str) -> None:
    with pytest.raises(StepError, match=f'^the tag is "{tag}"; allowed: v and a version, such as v0.1.0$'):
        check_tag(tagged, tag)


@pytest.mark.parametrize("tag", ["v0.1.1", "v0.1.0rc1"])
def test_another_tag_than_the_version_is_refused(tagged: Path, tag: str) -> None:
    with pytest.raises(
        StepError, match=rf'the tag "{tag}" does not agree with the commit\npyproject.toml: version 0.1.0'
    ):
        check_tag(tagged, tag)
