"""All operations of the admin API."""

from __future__ import annotations

from . import (
    clock_operations,
    held_operations,
    journal_operations,
    kcl_operations,
    probe_operations,
    producer_operations,
    rule_operations,
    topic_operations,
)
from .operation import Operation

OPERATIONS: tuple[Operation, ...] = (
    *probe_operations.OPERATIONS,
    *rule_operations.OPERATIONS,
    *held_operations.OPERATIONS,
    *journal_operations.OPERATIONS,
    *producer_operations.OPERATIONS,
    *topic_operations.OPERATIONS,
    *clock_operations.OPERATIONS,
    *kcl_operations.OPERATIONS,
)
