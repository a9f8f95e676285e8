"""What can be asked of files, and the error by which it fails."""

from __future__ import annotations

import os
from enum import Enum


class OperationKind(Enum):
    """What can be asked of files; SYNC is of a file, SYNC_FOLDER of the names in a folder."""

    CREATE = "create"
    WRITE = "write"
    PREALLOCATE = "preallocate"
    TRUNCATE = "truncate"
    RENAME = "rename"
    DELETE = "delete"
    REPLACE = "replace"
    RENAME_FOLDER = "rename folder"
    DELETE_FOLDER = "delete folder"
    SYNC = "sync"
    SYNC_FOLDER = "sync folder"
    READ = "read"


SYNCS = frozenset({OperationKind.SYNC, OperationKind.SYNC_FOLDER})
# What a full disk refuses: all that needs room. Preallocating makes a hole and needs none.
GROWTHS = frozenset({OperationKind.CREATE, OperationKind.WRITE, OperationKind.REPLACE})
# Every operation but reading; these are numbered.
CHANGES = frozenset(OperationKind) - {OperationKind.READ}


def os_error(error_number: int, path: str) -> OSError:
    """Return the error that a call of the operating system for path raises."""
    return OSError(error_number, os.strerror(error_number), path)
