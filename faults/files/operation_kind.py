"""Operations on files, and the OSError that they raise."""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import Enum
from typing import Literal


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


WRITES = frozenset({OperationKind.WRITE, OperationKind.REPLACE})
# The rename of a replaced file is an operation of its own.
RENAMES = frozenset({OperationKind.RENAME, OperationKind.RENAME_FOLDER})
SYNCS = frozenset({OperationKind.SYNC, OperationKind.SYNC_FOLDER})
# What a full disk refuses. Preallocation makes a hole, which needs no space.
GROWTHS = frozenset({OperationKind.CREATE, OperationKind.WRITE, OperationKind.REPLACE})
# Every operation except READ.
CHANGES = frozenset(OperationKind) - {OperationKind.READ}

# The operations that rules name.
Operation = Literal["write", "fsync", "rename"]
KindsByOperation = Mapping[Operation, frozenset[OperationKind]]
ALL_OPERATIONS: KindsByOperation = {"write": WRITES, "fsync": SYNCS, "rename": RENAMES}
ONLY_WRITES: KindsByOperation = {"write": WRITES}
# A full or read-only disk also refuses operations that rules cannot name.
ONLY_GROWTHS: KindsByOperation = {"write": GROWTHS}
ALL_CHANGES: KindsByOperation = {"write": CHANGES - SYNCS - RENAMES, "rename": RENAMES}


def os_error(error_number: int, path: str) -> OSError:
    """Return the OSError of a system call for path."""
    return OSError(error_number, os.strerror(error_number), path)
