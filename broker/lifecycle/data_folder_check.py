"""Whether a broker could use a data folder, for `fauxka doctor`: opening one writes to it and recovers its logs."""

from __future__ import annotations

import os
import tempfile
from errno import EACCES

from ...storage.checkpoints.checkpoint_files import LOCK
from ...storage.file_systems.path_problems import find_path_problem
from .data_directory import DataDirectoryError, check_content, lock_exclusive


def check_data_folder(folder: str, node_count: int) -> None:
    """Raise DataDirectoryError if the folder cannot be used, as far as that is found without writing to it.

    Not checked: its files, and what several nodes have in it.
    """
    folder = os.path.abspath(folder)
    try:
        if not os.path.isdir(folder):
            with tempfile.TemporaryDirectory(dir=_lowest_existing(folder)) as trial:
                os.close(lock_exclusive(f"{trial}/{LOCK}", folder))
            return
        if node_count == 1:
            check_content(folder)
        if os.path.exists(f"{folder}/{LOCK}"):
            os.close(lock_exclusive(f"{folder}/{LOCK}", folder))
        elif not os.access(folder, os.W_OK):
            raise PermissionError(EACCES, os.strerror(EACCES))
    except OSError as error:
        problem = find_path_problem(folder, error)
        raise DataDirectoryError(problem or f"cannot use {folder}: {error.strerror}") from error


def _lowest_existing(path: str) -> str:
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    return path
