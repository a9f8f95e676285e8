"""Operations on files, and the OSError that they raise."""

from __future__ import annotations

import os
from enum import Enum


class OperationKind(Enum):
    """An operation on a file, or on a folder. SYNC_FOLDER syncs the names in a folder."""

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
# What a full disk refuses. Preallocation makes a hole, which needs no space.
GROWTHS = frozenset({OperationKind.CREATE, OperationKind.WRITE, OperationKind.REPLACE})
# Every operation except READ.
CHANGES = frozenset(OperationKind) - {OperationKind.READ}


def os_error(error_number: int, path: str) -> OSError:
    """Return the OSError of a system call for path."""
    return OSError(error_number, os.strerror(error_number), path)
