"""Why a batch is in its log twice, or not in it, or not acknowledged: one sentence with the numbers."""

from __future__ import annotations

from ..journal.journal import Journal
from ..journal.journal_entries import error_name_of
from ..journal.request_outcomes import AppliedFault
from .delivery_counts import LostBatch
from .stored_batches import StoredBatch
from .stored_copies import CopiedRecords
from .unacknowledged_batches import UnacknowledgedBatch
from .withheld_batches import WithheldBatch

_NO_PRODUCER = "nothing tells it from a new batch, because it has no producer id"


def explain_copies(journal: Journal, copies: CopiedRecords) -> str:
    """Return why the log has records twice."""
    original, copy = copies.original, copies.copy
    there = f"offsets {_range(copy.base_offset, copy.last_offset)}"
    if copy.partition != original.partition:
        there += f" of partition {copy.partition}"
    if copies.unacknowledged is not None:
        told = _untold_in_words(journal, copies.unacknowledged)
        return f"{told}; the batch is also at {there}: {_unrecognised(original, copy)}"
    again = f"{len(copies.offsets)} of its records came again, to {there}"
    event = f"the first has event id {_text_of(copies.event_id or b'')}"
    return f"{again}, {event}: {_unrecognised(original, copy)}; a broker never compares what records say"


def _unrecognised(original: StoredBatch, copy: StoredBatch) -> str:
    if copy.partition != original.partition:
        return "each partition counts sequences on its own"
    if copy.producer_id < 0:
        return _NO_PRODUCER
    as_whom = f"it came as sequences {_range(copy.base_sequence, copy.last_sequence)}"
    if copy.producer_id != original.producer_id:
        return f"{as_whom} of another producer id, {copy.producer_id}"
    if copy.producer_epoch != original.producer_epoch:
        return f"{as_whom} of epoch {copy.producer_epoch}, in which sequences are counted anew"
    if copy.base_sequence == original.base_sequence:
        return f"{as_whom} again, when the partition no longer knew them"
    return f"{as_whom}, which are new ones"


def explain_unacknowledged(journal: Journal, batch: UnacknowledgedBatch) -> str:
    """Return why a stored batch is not acknowledged."""
    return f"{_untold_in_words(journal, batch)}, and no later answer told of it"


def _untold_in_words(journal: Journal, batch: UnacknowledgedBatch) -> str:
    stored = f"{_batch_in_words(batch.producer_id, batch.producer_epoch, batch.base_sequence, batch.last_sequence)}"
    stored += f" was appended at offsets {_range(batch.base_offset, batch.last_offset)}"
    by = _acts_in_words(journal.outcomes.faults_on(batch.request_id))
    if batch.is_told:
        return f"{stored} some time after it came{by}"
    if journal.is_waiting(batch.request_id):
        return f"{stored}, and its answer still waits{by}"
    if batch.error_code is None:
        return f"{stored}, and its answer was not sent{by}"
    return f"{stored}, and answered with {error_name_of(batch.error_code)}{by}"


def explain_loss(journal: Journal, lost: LostBatch) -> str:
    """Return how a batch that was acknowledged got lost."""
    by = _acts_in_words(journal.outcomes.faults_on(lost.request_id)) if lost.request_id else ""
    if lost.end_offset is None:
        return f"its client was told that it was appended, and it was not{by}"
    offsets = _range(lost.base_offset, lost.last_offset)
    return f"it was acknowledged at offsets {offsets}, and after a crash the log ended at {lost.end_offset}"


def explain_reordering(journal: Journal, withheld: WithheldBatch, offset: int) -> str:
    """Return why a batch is behind one that was sent after it; offset: where it is."""
    decision = withheld.decision
    batch = _batch_in_words(
        decision.producer_id, decision.producer_epoch, decision.base_sequence, decision.last_sequence
    )
    by = _acts_in_words(journal.outcomes.faults_on(withheld.request_id)) or f" ({decision.kind})"
    return (
        f"{batch} came first and was not appended then{by}; the next one of its connection was appended at offset "
        f"{withheld.follower_offset}, and this one later, at offset {offset}"
    )


def _batch_in_words(producer_id: int, producer_epoch: int, base_sequence: int, last_sequence: int) -> str:
    if producer_id < 0:
        return "a batch without a producer id"
    return (
        f"the batch of producer {producer_id} epoch {producer_epoch}, sequences {_range(base_sequence, last_sequence)},"
    )


def _acts_in_words(acts: list[AppliedFault]) -> str:
    told = ", ".join(f"rule {act.rule_id}: {act.kind} at {act.point}" for act in acts if act.kind != "observe")
    return f" ({told})" if told else ""


def _range(first: int, last: int) -> str:
    return f"{first}..{last}"


def _text_of(data: bytes) -> str:
    return repr(data.decode(errors="backslashreplace"))
