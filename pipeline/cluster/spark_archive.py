"""The package as one zip file for the workers of a cluster that do not have it installed.

The archive contains every part that the pipeline imports. Its compiled dependencies (numpy, pyarrow, fastcrc,
cramjam) must be installed on the workers, because Python cannot import compiled modules from a zip file.
"""

from __future__ import annotations

import atexit
import importlib.util
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from zipimport import zipimporter

from ...storage.file_systems.own_folder import delete_own_folder
from ...storage.file_systems.path_problems import find_path_problem
from ..bad_option import BadOption

ARCHIVE_NAME = "fauxka.zip"
# The parts that import-linter allows the pipeline to import.
PARTS = ("pipeline", "client", "security", "protocol", "storage")
# What these parts import of the root.
_ROOT_MODULES = ("__init__.py", "rare_parts.py")
_PACKAGE = __name__.partition(".")[0]
# The earliest time of the zip format; a fixed time makes archives of the same code identical.
_WRITTEN_AT = (1980, 1, 1, 0, 0, 0)


def write_archive(path: Path) -> None:
    """Write the archive, replacing an existing file. Raises BadOption if it cannot be written."""
    try:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, source in _sources():
                entry = zipfile.ZipInfo(str(PurePosixPath(_PACKAGE, name)), _WRITTEN_AT)
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, source.read_bytes())
    except OSError as error:
        raise BadOption(find_path_problem(path, error) or f"{path}: {error.strerror}") from None


def _sources() -> Iterator[tuple[PurePosixPath, Traversable]]:
    package = files(_PACKAGE)
    for name in _ROOT_MODULES:
        yield PurePosixPath(name), package / name
    for part in PARTS:
        yield from _modules(PurePosixPath(part), package / part)


def _modules(name: PurePosixPath, folder: Traversable) -> Iterator[tuple[PurePosixPath, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _modules(name / entry.name, entry)
        elif entry.name.endswith(".py"):
            yield name / entry.name, entry


def archive_of_this_code() -> Path:
    """Return the archive from which this module was imported, or a new one if it was imported from a folder."""
    return _archive_imported_from() or _new_archive()


def _new_archive() -> Path:
    """Write an archive that is deleted at exit, because Spark serves it to every executor that starts later."""
    folder = Path(tempfile.mkdtemp(prefix="fauxka-archive-"))
    atexit.register(_delete_archive, folder)
    write_archive(folder / ARCHIVE_NAME)
    return folder / ARCHIVE_NAME


def _delete_archive(folder: Path) -> None:
    with suppress(OSError):
        delete_own_folder(folder, lambda name: name == ARCHIVE_NAME)


def _archive_imported_from() -> Path | None:
    """Return the archive from which this module was imported; None if it was imported from a folder."""
    spec = importlib.util.find_spec(_PACKAGE)
    assert spec is not None, "the package of this module is importable"
    return Path(spec.loader.archive) if isinstance(spec.loader, zipimporter) else None
