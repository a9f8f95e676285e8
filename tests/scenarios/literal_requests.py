"""Test helper: journal requests with the fields that matter."""

from fauxka.scenarios.report.journal_requests import JournalBatch, JournalFault, JournalRequest

PRODUCER_ID = 7


def batch(
    first: int,
    last: int,
    decision: str = "appended",
    *,
    base_offset: int = -1,
    epoch: int = 0,
    error: str | None = None,
) -> JournalBatch:
    return JournalBatch(
        topic="events",
        partition=0,
        producer_id=PRODUCER_ID,
        producer_epoch=epoch,
        base_sequence=first,
        last_sequence=last,
        records=last - first + 1,
        decision=decision,
        error=error,
        base_offset=base_offset,
        why=f"producer {PRODUCER_ID} epoch {epoch}: sequences {first}..{last} {decision}",
    )


def produce(
    request_id: int,
    carried: JournalBatch,
    *,
    connection: int = 1,
    answered: bool = True,
    fault: JournalFault | None = None,
) -> JournalRequest:
    return JournalRequest(
        id=request_id,
        at_ms=1000 + request_id,
        connection=connection,
        api="Produce",
        batches=[carried],
        answered=answered,
        error=carried.error,
        faults=[] if fault is None else [fault],
    )


def init_producer_id(request_id: int) -> JournalRequest:
    return JournalRequest(id=request_id, at_ms=1000 + request_id, connection=1, api="InitProducerId")
