"""The files with content in an object store, as readers of parquet see them. This module does not use Spark.

Readers of parquet ignore names that begin with _ or a dot, and the markers of folders that Hadoop writes. So does this
module. A name that is a part of the path or pattern itself is read.
"""

from __future__ import annotations

from itertools import zip_longest

from ..read.file_store import FileEntry
from ..read.object_store import ArrowFiles
from ..read.store_address import has_known_scheme
from ..read.stores import store_of

# Hadoop's name for an empty object that stands for a folder.
_FOLDER_MARKER = "_$folder$"


def find_store(name: str, path: str) -> tuple[ArrowFiles, str] | None:
    """Return the object store of a URI and the URI without parameters. name: of the option.

    None for a path that Spark reads and writes by itself: on this machine, in HDFS, or of another scheme, for which the
    user has given Spark the jars. Raises BadOption.
    """
    if not has_known_scheme(path):
        return None
    store, place = store_of(name, path)
    return (store, place) if isinstance(store, ArrowFiles) and store.address.scheme != "hdfs" else None


def content_files(store: ArrowFiles, place: str) -> dict[str, FileEntry]:
    """Return the files with content at a URI or pattern. Raises OSError."""
    listing = store.list_files(place)
    return {path: file for path, file in listing.files_below_roots().items() if not _is_hidden(place, path)}


def _is_hidden(place: str, path: str) -> bool:
    """Whether readers ignore a file. place: the path or pattern that it was found by."""
    given = place.split("/")
    names = path.split("/")
    found = [name for name, pattern in zip_longest(names, given) if name != pattern and (pattern or "*")[0] not in "_."]
    return names[-1].endswith(_FOLDER_MARKER) or any(name.startswith(("_", ".")) for name in found)
