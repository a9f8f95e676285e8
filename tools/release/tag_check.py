"""What the tag of a release promises: every file has its version, and CHANGELOG.md the date.

`make check-tag` also compares the recorded surface, which imports the product: docs/stability.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .steps import expect, run_step

TAG = re.compile(r"v\d+\.\d+\.\d+[a-z0-9]*")
# The lines with the version of fauxka.
FIELDS = {
    "pyproject.toml": r'^version = "(.*)"$',
    "__init__.py": r'^__version__ = "(.*)"$',
    "CITATION.cff": r"^version: (.*)$",
    "Dockerfile": r"^ARG VERSION=(.*)$",
    "docs/ci.md": r"/setup@v(.*)$",
    "setup/action.yml": r'^    default: "(\d+\.\d+\.\d+[a-z0-9]*)"$',
    "clients/java/pom.xml": r"^  <version>(.*)</version>$",
    "clients/typescript/package.json": r'^  "version": "(.*)",$',
}
IMAGE = r"fauxka:[0-9]+\.[0-9]+\.[0-9]+[a-z0-9]*"
WITH_IMAGE = ("README.md", "clients", "docs", "examples", "fauxka_container.py")
# Modules of testcontainers accept an image only with a tag that a Kafka has had.
OF_KAFKA = "fauxka:8.3.0"
SECTION = re.compile(r"^## (.*)$", re.MULTILINE)


def check_tag(folder: Path, tag: str) -> None:
    """Raise StepError with a line for each part of a checkout that does not agree with a tag."""
    expect(TAG.fullmatch(tag) is not None, f'the tag is "{tag}"; allowed: v and a version, such as v0.1.0')
    version = tag.removeprefix("v")
    found = [*different_versions(folder, version), *_wrong_section(folder, version)]
    expect(not found, "\n".join([f'the tag "{tag}" does not agree with the commit', *found]))


def different_versions(folder: Path, version: str) -> Iterator[str]:
    """Return a line for each field and image name in a checkout that has another version, or none."""
    for name, pattern in FIELDS.items():
        values = re.findall(pattern, (folder / name).read_text(), re.MULTILINE)
        if values != [version]:
            yield f"{name}: version {', '.join(values) or 'missing'}, expected {version}"
    for line in run_step("git", "grep", "-noE", IMAGE, "--", *WITH_IMAGE, folder=folder).splitlines():
        if not line.endswith((f":fauxka:{version}", f":{OF_KAFKA}")):
            yield f"{line}, expected fauxka:{version}"


def _wrong_section(folder: Path, version: str) -> Iterator[str]:
    first = SECTION.search((folder / "CHANGELOG.md").read_text())
    title = first[1] if first else "no section"
    if not re.fullmatch(re.escape(version) + r" - \d{4}-\d\d-\d\d", title):
        yield f'CHANGELOG.md: "{title}", expected "{version} - " and a date'
