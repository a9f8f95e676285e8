"""Why a path given by the user cannot be used, as a sentence that names the file or folder in the way."""

from __future__ import annotations

import os
from errno import EEXIST, EISDIR, ENOTDIR


def find_path_problem(path: str | os.PathLike[str], error: OSError) -> str | None:
    """Return the cause of an error at a path if a file is in the place of a folder, or the reverse; else None."""
    text = os.fspath(path)
    if error.errno == EISDIR:
        return f"{text} is a folder, not a file"
    return find_file_in_the_way(text) if error.errno in (EEXIST, ENOTDIR) else None


def find_file_in_the_way(path: str | os.PathLike[str]) -> str | None:
    """Return that the path, or the lowest existing folder above it, is a file; None if a folder can be there."""
    place = os.fspath(path)
    while place and not os.path.lexists(place):
        above = os.path.dirname(place.rstrip(os.sep))
        if above == place:
            return None
        place = above
    if not place or os.path.isdir(place):
        return None
    return f"{place} is a file, not a folder" if os.path.isfile(place) else f"{place} is not a folder"
