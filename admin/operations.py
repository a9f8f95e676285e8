"""All operations of the admin API."""

from __future__ import annotations

from . import probe_operations
from .operation import Operation

OPERATIONS: tuple[Operation, ...] = (*probe_operations.OPERATIONS,)
