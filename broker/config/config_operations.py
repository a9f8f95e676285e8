"""What a client may do with a key of a resource."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Operation(IntEnum):
    """What is done with a key (AlterConfigOp.OpType)."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


@dataclass(frozen=True, slots=True)
class Change:
    """One key's; operation is a number as it came, which need not be an Operation."""

    key: str
    operation: int
    value: str | None
