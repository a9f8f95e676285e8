"""All operations of the admin API."""

from __future__ import annotations

from ..operation import Operation
from . import (
    clock_operations,
    export_operations,
    file_operations,
    held_operations,
    journal_operations,
    kcl_operations,
    life_operations,
    probe_operations,
    producer_operations,
    reset_operations,
    rule_operations,
    scenario_operations,
    snapshot_operations,
    topic_operations,
    transaction_operations,
    verdict_operations,
)

OPERATIONS: tuple[Operation, ...] = (
    *probe_operations.OPERATIONS,
    *rule_operations.OPERATIONS,
    *held_operations.OPERATIONS,
    *file_operations.OPERATIONS,
    *journal_operations.OPERATIONS,
    *verdict_operations.OPERATIONS,
    *producer_operations.OPERATIONS,
    *transaction_operations.OPERATIONS,
    *topic_operations.OPERATIONS,
    *clock_operations.OPERATIONS,
    *reset_operations.OPERATIONS,
    *snapshot_operations.OPERATIONS,
    *life_operations.OPERATIONS,
    *export_operations.OPERATIONS,
    *scenario_operations.OPERATIONS,
    *kcl_operations.OPERATIONS,
)
