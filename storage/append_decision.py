"""Text for what a log decided about a batch: appended, duplicate or refused. Built only when it is read."""

from __future__ import annotations

from .append_refused import AppendRefused, SequenceRefusal, SequenceRule
from .append_result import AppendResult
from .producers.producer_state_entry import CachedBatch


def describe_decision(decision: AppendResult | AppendRefused) -> str:
    """Return the sentence for a batch that was appended, recognised as a duplicate, or refused."""
    if isinstance(decision, AppendRefused):
        return describe_refusal(decision.refusal) if decision.refusal else decision.message
    if decision.producer_id < 0:
        return f"appended at offsets {_range(decision.base_offset, decision.last_offset)}"
    sent = f"{_producer(decision.producer_id, decision.producer_epoch)}: sequences "
    sent += _range(decision.base_sequence, decision.last_sequence)
    offsets = _range(decision.base_offset, decision.last_offset)
    if decision.is_duplicate:
        return (
            f"{sent} are a duplicate of the batch at offsets {offsets}{_cached(decision.cached)}: nothing is appended"
        )
    return f"{sent} appended at offsets {offsets}"


def describe_refusal(refusal: SequenceRefusal) -> str:
    """Return the sentence for a batch that the producer's state refused."""
    producer = _producer(refusal.producer_id, refusal.producer_epoch)
    if refusal.rule is SequenceRule.OLD_EPOCH:
        current = "at least -1" if refusal.current_epoch is None else str(refusal.current_epoch)
        return f"{producer}: the current epoch is {current}: {refusal.rule.value}"
    if refusal.expected_sequence is None:
        got = _range(refusal.base_sequence, refusal.last_sequence)
        return f"{producer}: got sequences {got}: {refusal.rule.value}"
    expected = f"expected sequence {refusal.expected_sequence}, got {refusal.base_sequence}"
    return f"{producer}: {expected}{_cached(refusal.cached)}: {refusal.rule.value}"


def _producer(producer_id: int, producer_epoch: int) -> str:
    return f"producer {producer_id} epoch {producer_epoch}"


def _range(first: int, last: int) -> str:
    return f"{first}..{last}"


def _cached(batches: tuple[CachedBatch, ...]) -> str:
    if not batches:
        return ""
    return f" (cached {', '.join(_range(batch.base_sequence, batch.last_sequence) for batch in batches)})"
