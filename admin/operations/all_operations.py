"""All operations of the admin API, and the one that describes them."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..control import Control
from ..openapi import describe
from ..operation import Operation
from . import (
    acl_operations,
    batch_operations,
    certificate_operations,
    cleanup_operations,
    clock_operations,
    crash_operations,
    decoding_operations,
    event_operations,
    export_operations,
    file_operations,
    group_changes,
    group_operations,
    group_removals,
    held_operations,
    journal_operations,
    kcl_operations,
    mark_operations,
    node_operations,
    oauth_operations,
    offset_resets,
    partition_operations,
    probe_operations,
    processed_operations,
    produce_operations,
    producer_operations,
    quota_operations,
    record_operations,
    record_search,
    reset_operations,
    rule_operations,
    scenario_operations,
    seed_operations,
    session_operations,
    snapshot_operations,
    topic_changes,
    topic_operations,
    transaction_operations,
    user_operations,
    verdict_operations,
    verdict_summaries,
)


def openapi(control: Control) -> dict[str, Any]:
    """Describe this API for tools, as OpenAPI 3.1."""
    return _description()


@cache
def _description() -> dict[str, Any]:
    return describe(OPERATIONS)


OPERATIONS: tuple[Operation, ...] = (
    *probe_operations.OPERATIONS,
    Operation(method="GET", path="/openapi.json", perform=openapi, tag=probe_operations.TAG),
    *rule_operations.OPERATIONS,
    *held_operations.OPERATIONS,
    *file_operations.OPERATIONS,
    *journal_operations.OPERATIONS,
    *mark_operations.OPERATIONS,
    *event_operations.OPERATIONS,
    *verdict_operations.OPERATIONS,
    *verdict_summaries.OPERATIONS,
    *processed_operations.OPERATIONS,
    *producer_operations.OPERATIONS,
    *transaction_operations.OPERATIONS,
    *acl_operations.OPERATIONS,
    *certificate_operations.OPERATIONS,
    *quota_operations.OPERATIONS,
    *session_operations.OPERATIONS,
    *user_operations.OPERATIONS,
    *topic_operations.OPERATIONS,
    *topic_changes.OPERATIONS,
    *cleanup_operations.OPERATIONS,
    *group_operations.OPERATIONS,
    *group_changes.OPERATIONS,
    *offset_resets.OPERATIONS,
    *group_removals.OPERATIONS,
    *record_operations.OPERATIONS,
    *record_search.OPERATIONS,
    *decoding_operations.OPERATIONS,
    *batch_operations.OPERATIONS,
    *seed_operations.OPERATIONS,
    *produce_operations.OPERATIONS,
    *clock_operations.OPERATIONS,
    *reset_operations.OPERATIONS,
    *snapshot_operations.OPERATIONS,
    *crash_operations.OPERATIONS,
    *node_operations.OPERATIONS,
    *partition_operations.OPERATIONS,
    *export_operations.OPERATIONS,
    *scenario_operations.OPERATIONS,
    *kcl_operations.OPERATIONS,
    *oauth_operations.OPERATIONS,
)
