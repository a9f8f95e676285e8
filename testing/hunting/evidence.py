"""What a run that broke the program has shown: what the program printed, and the requests around the fault."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import to_builtins

from ...admin.client.journal_text import entry_lines

if TYPE_CHECKING:
    from ...faults.journal.journal_entries import JournalEntry
    from .run import Run

STARTED_AGAIN = "[started again]"
# The requests from the first one with a fault on. The timeline has all.
REQUESTS_MAX = 8
# Requests by which a client finds its broker. They are shown if they met a fault.
_CHATTER = ("ApiVersions", "Metadata", "FindCoordinator")


@dataclass(frozen=True, slots=True)
class Evidence:
    """output: of all starts of the program. requests: those from the first fault on, in lines."""

    output: str = ""
    requests: Sequence[str] = ()


def evidence_of(run: Run) -> Evidence:
    """Return the evidence of a run."""
    outputs = [output.strip("\n") for output in run.outputs]
    # Most starts print nothing.
    output = f"\n{STARTED_AGAIN}\n".join(outputs).strip("\n") if any(outputs) else ""
    return Evidence(output, [line for entry in _around_fault(run.requests) for line in entry_lines(to_builtins(entry))])


def _around_fault(requests: Sequence[JournalEntry]) -> Iterator[JournalEntry]:
    first = next((number for number, entry in enumerate(requests) if entry.faults), len(requests))
    shown = [entry for entry in requests[first:] if entry.faults or entry.api not in _CHATTER]
    yield from shown[:REQUESTS_MAX]
