"""The numbers of a batch that a decision on it has."""

from __future__ import annotations

from typing import NamedTuple

from ...protocol.batches.record_batch import BatchHeader
from ...protocol.error_codes import KafkaError
from ...protocol.sequences import MAX_SEQUENCE, increment_sequence
from ...storage.append_refused import AppendRefused
from ...storage.append_result import AppendResult
from .journal_record import NotApplied

_NONE = -1


class BatchNumbers(NamedTuple):
    """The known numbers of a batch."""

    producer_id: int = _NONE
    producer_epoch: int = _NONE
    base_sequence: int = _NONE
    last_sequence: int = _NONE
    records_count: int = _NONE


def numbers_of(decision: AppendResult | KafkaError | NotApplied) -> BatchNumbers:
    """Return the numbers of a decision on a batch."""
    if isinstance(decision, AppendRefused):
        if decision.header is not None:
            return _numbers_in(decision.header)
        if (refusal := decision.refusal) is None:
            return BatchNumbers()
        count = ((refusal.last_sequence - refusal.base_sequence) & MAX_SEQUENCE) + 1
        return BatchNumbers(
            refusal.producer_id, refusal.producer_epoch, refusal.base_sequence, refusal.last_sequence, count
        )
    if isinstance(decision, KafkaError):
        return BatchNumbers()
    return BatchNumbers(
        decision.producer_id,
        decision.producer_epoch,
        decision.base_sequence,
        decision.last_sequence,
        decision.records_count,
    )


def _numbers_in(header: BatchHeader) -> BatchNumbers:
    last_sequence = _NONE
    if header.producer_id >= 0:
        last_sequence = increment_sequence(header.base_sequence, header.last_offset_delta)
    return BatchNumbers(
        header.producer_id, header.producer_epoch, header.base_sequence, last_sequence, header.records_count
    )
