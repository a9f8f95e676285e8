"""Two builds of one commit, compared byte by byte.

SOURCE_DATE_EPOCH, the umask and the locked packages of the build make wheels equal. setuptools writes the time of the
build and the user into the archive of the sources; `normalize_sdist` writes it again without them.
"""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

DIRECTORY_MODE, FILE_MODE = 0o755, 0o644


def normalize_sdist(path: Path, epoch: int) -> None:
    """Write a .tar.gz again with sorted members of root, all of one time. epoch: seconds since 1970."""
    content = io.BytesIO()
    with tarfile.open(path) as before, tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as after:
        for member in sorted(before.getmembers(), key=lambda each: each.name):
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mtime = epoch
            member.pax_headers = {}
            member.mode = DIRECTORY_MODE if member.isdir() else FILE_MODE
            after.addfile(member, before.extractfile(member) if member.isfile() else None)
    with path.open("wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=epoch) as packed:
        packed.write(content.getvalue())


def different_files(first: Path, second: Path) -> list[str]:
    """Return what differs between two folders of artefacts: "ARTEFACT is built once only", or "MEMBER of ARTEFACT"."""
    names = {path.name for folder in (first, second) for path in folder.iterdir() if path.is_file()}
    return [line for name in sorted(names) for line in _difference(first / name, second / name)]


def _difference(first: Path, second: Path) -> list[str]:
    if not (first.exists() and second.exists()):
        return [f"{first.name} is built once only"]
    if first.read_bytes() == second.read_bytes():
        return []
    one, other = _members(first), _members(second)
    different = [name for name in sorted(one.keys() | other.keys()) if one.get(name) != other.get(name)]
    # Equal members in an archive that differs: its order, or its compression.
    return [f"{name} of {first.name}" for name in different] or [f"the archive of {first.name}"]


def _members(archive: Path) -> dict[str, tuple[object, ...]]:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as opened:
            return {
                each.filename: (each.date_time, each.external_attr, opened.read(each)) for each in opened.infolist()
            }
    with tarfile.open(archive) as opened:
        return {
            each.name: (
                each.mtime,
                each.mode,
                each.uid,
                content.read() if (content := opened.extractfile(each)) else b"",
            )
            for each in opened.getmembers()
        }
