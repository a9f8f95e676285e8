"""The batches of a request in the journal: their numbers, results and reasons."""

from __future__ import annotations

from msgspec import Struct

from ...protocol.error_codes import KafkaError
from ...protocol.shortened_text import shortened
from ...storage.append_decision import describe_decision
from ...storage.append_refused import AppendRefused
from ...storage.append_result import AppendResult
from .batch_numbers import numbers_of
from .details.exchange import error_name_of
from .journal_record import Decision, NotApplied
from .request_outcomes import AppliedFault

# The sentence about a batch, with the names in it.
WHY_CHARACTERS_MAX = 1000

_NONE = -1


class BatchInfo(Struct, frozen=True, kw_only=True):
    """A batch of a request. Missing numbers are -1."""

    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    last_sequence: int
    records: int


class JournalBatch(BatchInfo, frozen=True, kw_only=True):
    """A batch and its result.

    decision: "appended", "duplicate", "refused" or "not_applied". error: Kafka's name, None without an error.
    base_offset: of the original for a duplicate; -1 if the batch is not in the log. why: the reason as a sentence.
    expected_sequence: the base sequence that the partition would have accepted from the producer; set for a batch that
    was refused because of its sequence.
    producer_before_reset: whether the producer got its id before the last reset, and sent the batch after it.
    """

    decision: str
    error: str | None
    base_offset: int
    why: str
    expected_sequence: int | None = None
    producer_before_reset: bool = False


def journal_batch(batch: Decision, faults: list[AppliedFault], before_reset: range) -> JournalBatch:
    """Return the entry of a batch. before_reset: as of producers_before_reset."""
    topic, partition, decision = batch
    numbers = numbers_of(decision)
    decided, error, base_offset, why = "refused", None, _NONE, ""
    if isinstance(decision, AppendResult):
        decided = "duplicate" if decision.is_duplicate else "appended"
        base_offset = decision.base_offset
        why = describe_decision(decision)
    elif isinstance(decision, NotApplied):
        decided = "not_applied"
        error = error_name_of(decision.error_code) if decision.error_code else None
        why = explain_not_applied(decision, faults)
    else:
        error = decision.code.name
        why = describe_decision(decision) if isinstance(decision, AppendRefused) else decision.message
    return JournalBatch(
        topic=shortened(topic),
        partition=partition,
        producer_id=numbers.producer_id,
        producer_epoch=numbers.producer_epoch,
        base_sequence=numbers.base_sequence,
        last_sequence=numbers.last_sequence,
        records=numbers.records_count,
        decision=decided,
        error=error,
        base_offset=base_offset,
        why=shortened(why or (error or ""), WHY_CHARACTERS_MAX),
        expected_sequence=_expected_sequence_of(decision),
        producer_before_reset=numbers.producer_id in before_reset,
    )


def _expected_sequence_of(decision: AppendResult | KafkaError | NotApplied) -> int | None:
    if not isinstance(decision, AppendRefused) or decision.refusal is None:
        return None
    return decision.refusal.expected_sequence


def explain_not_applied(decision: NotApplied, faults: list[AppliedFault]) -> str:
    """Return which rule withheld a batch from its log."""
    point = next((fault.point for fault in faults if fault.rule_id == decision.rule_id), "received")
    error = ""
    if decision.kind == "error":
        error = f" {error_name_of(decision.error_code) or 'NONE'}"
    return f"rule {decision.rule_id} ({decision.kind}{error} at {point}) withheld it from the log"
