"""The text of a failed assertion on the journal: what was expected, and which requests there were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ...faults.journal.details.texts import error_text
from ...faults.journal.journal_batches import JournalBatch
from ...faults.journal.journal_entries import KEPT_BY, JournalEntry

# The requests of a list, oldest first; more are only counted.
REQUESTS_SHOWN = 5
# The journal's state of a response that the client received.
WRITTEN = "written"


def failure_text(
    expectation: str,
    matching: Sequence[JournalEntry],
    of_api: Sequence[JournalEntry],
    everything: Sequence[JournalEntry],
    dropped: int,
) -> str:
    """Return the text for an unexpected number of matching requests.

    expectation: as expectation_text returns it. of_api: the requests of the expected API; none if any is expected.
    everything: all requests. dropped: older ones that are no longer kept.
    """
    matched = {entry.id for entry in matching}
    others = [entry for entry in of_api if entry.id not in matched]
    lines = [f"{expectation}, found {len(matching)}", *_listed(matching)]
    if others:
        lines += ["others of the same API:", *_listed(others)]
    kinds = Counter(entry.api for entry in everything)
    lines.append(f"requests by API: {', '.join(f'{kinds[api]} {api}' for api in sorted(kinds)) or 'none'}")
    if dropped:
        lines.append(f"older requests that are no longer kept ({KEPT_BY}): {dropped}")
    return "\n".join(lines)


def expectation_text(count: int | None, conditions: Mapping[str, object]) -> str:
    """Return how many requests are expected; None: at least one. conditions: the fields that they have to match."""
    wanted = "at least 1 request" if count is None else "1 request" if count == 1 else f"{count} requests"
    filters = ", ".join(f"{name}={value!r}" for name, value in conditions.items())
    return f"expected {wanted}{filters and f' with {filters}'}"


def _listed(entries: Sequence[JournalEntry]) -> list[str]:
    lines = [f"    {_describe_entry(entry)}" for entry in entries[:REQUESTS_SHOWN]]
    left_out = len(entries) - len(lines)
    return [*lines, f"    and {left_out} more"] if left_out else lines


def _describe_entry(entry: JournalEntry) -> str:
    """Return a request as one line: its id, API and connection, its batches or topics, its response, its faults."""
    parts = [_describe_batch(batch) for batch in entry.batches] or [
        *entry.topics,
        *(f"group {group_id}" for group_id in entry.group_ids),
    ]
    if entry.error is not None and not any(batch.error for batch in entry.batches):
        first = entry.first_error
        is_inside = first is not None and first.error == entry.error
        parts.append(error_text(first, entry.more_errors) if first is not None and is_inside else entry.error)
    if entry.answer != WRITTEN:
        parts.append(f"response {entry.answer.replace('_', ' ')}")
    parts += [f"rule {fault.rule}: {fault.kind} at {fault.point}" for fault in entry.faults]
    request = f"request {entry.id}: {entry.api} v{entry.api_version}, connection {entry.connection}"
    return ", ".join([request, *parts])


def _describe_batch(batch: JournalBatch) -> str:
    offset = f" at offset {batch.base_offset}" if batch.base_offset >= 0 else ""
    error = "" if batch.error is None else f" with {batch.error}"
    return f"{batch.topic}-{batch.partition} {batch.decision.replace('_', ' ')}{offset}{error}"
