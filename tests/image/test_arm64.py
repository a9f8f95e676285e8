"""The image for arm64, as far as it can be checked elsewhere: each of its packages has a wheel for it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .built_image import ROOT

pytestmark = pytest.mark.packaging

# Of the default base image, python:3.13-slim.
PYTHON = "3.13"
PLATFORMS = ("manylinux2014_aarch64", "manylinux_2_17_aarch64", "manylinux_2_28_aarch64")
ROW = re.compile(r"^\| (pure Python|compiled) \| (.+?) \|", re.MULTILINE)


def wheels_for_arm64(folder: Path) -> list[str]:
    """Return the wheels that pip would install for the locked packages."""
    report = folder / "report.json"
    platforms = [option for platform in PLATFORMS for option in ("--platform", platform)]
    target = ["--target", str(folder / "target"), "--python-version", PYTHON, "--only-binary", ":all:", *platforms]
    locked = ["--require-hashes", "--no-deps", "--requirement", str(ROOT / "requirements/image.txt")]
    chosen = ["--dry-run", "--ignore-installed", "--quiet", "--report", str(report)]
    subprocess.run([sys.executable, "-m", "pip", "install", *chosen, *target, *locked], check=True)
    urls = [entry["download_info"]["url"] for entry in json.loads(report.read_text())["install"]]
    return [url.rpartition("/")[2] for url in urls]


def test_each_package_has_a_wheel_for_arm64_as_the_page_lists(tmp_path: Path) -> None:
    listed = {kind: sorted(names.split(", ")) for kind, names in ROW.findall((ROOT / "docs/containers.md").read_text())}

    wheels = wheels_for_arm64(tmp_path)

    found: dict[str, list[str]] = {"pure Python": [], "compiled": []}
    for wheel in wheels:
        kind = "pure Python" if wheel.endswith("-none-any.whl") else "compiled"
        found[kind].append(wheel.partition("-")[0].replace("_", "-"))
    assert {kind: sorted(names) for kind, names in found.items()} == listed
