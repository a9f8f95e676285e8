"""The kinds of findings by check, and which of them are faults. docs/findings.md explains each."""

from __future__ import annotations

from typing import Literal

from ..bad_option import BadOption

# The subject of a check: a producer's sequences, events by id, a ledger of sent events, the log itself.
Check = Literal["sequence", "event", "ledger", "log"]

KINDS_OF_CHECKS: dict[Check, tuple[str, ...]] = {
    "sequence": ("gap", "repeat", "regression", "epoch_regression"),
    "log": (
        *("damaged_batch", "missing_offsets", "offset_regression", "hanging_transaction"),
        *("aborted_transaction", "open_transaction", "compacted_offsets"),
    ),
    "event": ("duplicate", "repeated_event_id", "no_event_id"),
    "ledger": ("lost", "ambiguous_success", "offset_differs", "unknown_event", "reordered", "expired"),
}
ALL_KINDS = tuple(kind for kinds in KINDS_OF_CHECKS.values() for kind in kinds)

# Kinds that are not faults: an aborted or an open transaction, offsets removed by compaction, and acknowledged events
# removed by retention or compaction. A log with only these findings is clean.
HARMLESS_KINDS = frozenset({"aborted_transaction", "open_transaction", "compacted_offsets", "expired"})
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
