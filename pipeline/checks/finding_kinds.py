"""The kinds of findings by check, and which of them are faults. docs/findings.md explains each."""

from __future__ import annotations

from typing import Literal

from ..bad_option import BadOption

# The subject of a check: a producer's sequences, events by id, a ledger of sent events, the log itself, consumer
# groups, and what another side has of the log.
Check = Literal["sequence", "event", "ledger", "log", "group", "compare"]

KINDS_OF_CHECKS: dict[Check, tuple[str, ...]] = {
    "sequence": ("gap", "repeat", "regression", "epoch_regression"),
    "log": (
        *("damaged_batch", "missing_offsets", "offset_regression", "truncated_log"),
        *("leader_epoch_regression", "leader_epoch_mismatch", "replica_divergence"),
        "hanging_transaction",
        *("aborted_transaction", "open_transaction", "compacted_offsets", "old_format"),
        "unreplicated_records",
    ),
    "event": (
        *("duplicate", "repeated_event_id", "no_event_id"),
        *("version_regression", "no_version", "late", "no_event_time"),
    ),
    "ledger": ("lost", "ambiguous_success", "offset_differs", "unknown_event", "reordered", "expired"),
    "group": (
        *("offset_beyond_end", "unread_records_deleted", "commit_regression", "stalled_commits"),
        *("offset_in_hole", "uncommitted_read"),
    ),
    "compare": (
        *("lost", "duplicated", "extra", "changed", "reordered", "late", "no_event_id"),
        *("pending", "expired"),
    ),
}
ALL_KINDS = tuple(dict.fromkeys(kind for kinds in KINDS_OF_CHECKS.values() for kind in kinds))

# Kinds that are not faults: an aborted or an open transaction, offsets removed by compaction, messages of an old
# format, records that other replicas did not get yet or that can still arrive, what a consumer may commit, and
# acknowledged events removed by retention or compaction. A log with only these findings is clean.
HARMLESS_KINDS = frozenset(
    {
        *("aborted_transaction", "open_transaction", "compacted_offsets", "old_format", "unreplicated_records"),
        *("expired", "pending", "offset_in_hole", "uncommitted_read"),
    }
)
FAULTS = frozenset(ALL_KINDS) - HARMLESS_KINDS

# The value of --fail-on for no kind.
_NO_KIND = "none"


def parse_fail_on(text: str) -> frozenset[str]:
    """Return the kinds of --fail-on. text: kinds separated by commas, or none. Raises BadOption."""
    if text.strip() == _NO_KIND:
        return frozenset()
    kinds = [kind.strip() for kind in text.split(",")]
    unknown = [kind for kind in kinds if kind not in ALL_KINDS]
    if unknown:
        raise BadOption(f"fail-on: must be {_NO_KIND}, or some of {', '.join(sorted(ALL_KINDS))}, not {unknown[0]}")
    return frozenset(kinds)
