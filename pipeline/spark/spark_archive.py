"""The package as one file for the workers of a cluster, which need not have it installed.

In it is what the pipeline imports: itself, the formats and the files. What those need beside the standard library are
compiled packages (numpy, pyarrow, fastcrc, cramjam, lz4), which no archive can bring: Python imports none from one.
"""

from __future__ import annotations

import atexit
import importlib.util
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from zipimport import zipimporter

from ..bad_option import BadOption

if TYPE_CHECKING:
    from pyspark import SparkContext

ARCHIVE_NAME = "fauxka.zip"
# What the layers let the pipeline import; messages of APIs that it does not speak are small.
PARTS = ("pipeline", "protocol", "storage")
_PACKAGE = __name__.partition(".")[0]
# The earliest that a zip file can tell: the same code is the same archive.
_WRITTEN_AT = (1980, 1, 1, 0, 0, 0)
_FOLDER_OF_STREAMS = "streaming_job"


def write_archive(path: Path) -> None:
    """Write the archive, in place of what is there. Raises BadOption if it cannot be written."""
    try:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, source in _sources():
                entry = zipfile.ZipInfo(str(PurePosixPath(_PACKAGE, name)), _WRITTEN_AT)
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, source.read_bytes())
    except OSError as error:
        raise BadOption(f"{path}: {error.strerror}") from None


def _sources() -> Iterator[tuple[PurePosixPath, Traversable]]:
    package = files(_PACKAGE)
    yield PurePosixPath("__init__.py"), package / "__init__.py"
    for part in PARTS:
        yield from _modules(PurePosixPath(part), package / part)


def _modules(name: PurePosixPath, folder: Traversable) -> Iterator[tuple[PurePosixPath, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _modules(name / entry.name, entry)
        elif entry.name.endswith(".py"):
            yield name / entry.name, entry


def send_archive(context: SparkContext) -> None:
    """Let the workers of a cluster import the package, unless it went to them with the job already.

    It is under way as long as the context is there, and comes before anything else that the workers have by that name.
    """
    own = _archive_of_this_code() or _new_archive()
    if not any(PurePosixPath(file).name == own.name for file in context.listFiles):
        context.addPyFile(str(own))
    _show_to_streams(own)


def _show_to_streams(archive: Path) -> None:
    """Put the archive where the driver's own Python worker of a stream looks for it.

    Spark forgets to: it copies the files of a job into one folder, and names another to this worker, as if it served
    many jobs. Source: PythonStreamingSourceRunner.init, Spark 4.2.0.
    """
    from pyspark import SparkFiles

    folder = Path(SparkFiles.getRootDirectory(), _FOLDER_OF_STREAMS)
    folder.mkdir(exist_ok=True)
    shutil.copyfile(archive, folder / archive.name)


def _new_archive() -> Path:
    """Write an archive that is there as long as this process: Spark serves it whenever an executor starts."""
    folder = Path(tempfile.mkdtemp(prefix="fauxka-archive-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    write_archive(folder / ARCHIVE_NAME)
    return folder / ARCHIVE_NAME


def _archive_of_this_code() -> Path | None:
    """Return the archive that this was imported from; None if it was imported from a folder."""
    spec = importlib.util.find_spec(_PACKAGE)
    assert spec is not None, "the package is that of this module"
    return Path(spec.loader.archive) if isinstance(spec.loader, zipimporter) else None
