"""The command line of a release: check, tag, wheels, evidence and image."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .builds import read_source
from .check import check_release, check_wheels
from .evidence import write_digests
from .image_push import push_image
from .steps import ROOT, StepError, expect
from .tag_check import check_tag


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code: 1 if something failed or differs."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description="build, test and describe a release")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="build everything in a clone, test it, and print a table")
    check.add_argument("--without-image", action="store_true", help="leave the image out")
    tag = commands.add_parser("tag", help="refuse a tag that is not the version of every file, or not in CHANGELOG.md")
    tag.add_argument("tag", help="such as v0.1.0")
    wheels = commands.add_parser("wheels", help="test each wheel of a folder that this machine runs, and print a table")
    wheels.add_argument("folder", type=Path)
    evidence = commands.add_parser("evidence", help="write SHA256SUMS and the provenance of a folder of artefacts")
    evidence.add_argument("folder", type=Path)
    image = commands.add_parser("image", help="build the image with every tag by docker buildx, and push it")
    image.add_argument("repository", help="where to push, such as ghcr.io/OWNER/fauxka")
    options = parser.parse_args(arguments)
    try:
        return _run(options)
    except StepError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1


def _run(options: argparse.Namespace) -> int:
    match options.command:
        case "check":
            return check_release(with_image=not options.without_image)
        case "tag":
            check_tag(ROOT, options.tag)
            return 0
        case "wheels":
            return check_wheels(options.folder)
        case "evidence":
            return describe(options.folder)
        case _:
            return push_image(read_source(ROOT), options.repository)


def describe(folder: Path) -> int:
    """Write SHA256SUMS and the provenance of the artefacts of a folder beside them, into the folder `evidence`."""
    artefacts = [path for pattern in ("*.whl", "*.tar.gz") for path in folder.glob(pattern)]
    expect(bool(artefacts), f"{folder} has no wheel and no archive of sources")
    output = folder.parent / "evidence"
    output.mkdir(exist_ok=True)
    write_digests(read_source(ROOT), artefacts, output)
    return 0
