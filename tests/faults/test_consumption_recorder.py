"""What the recorder of consumers keeps of topics that come and go."""

from fauxka.faults.consumption.consumption_recorder import ConsumptionRecorder
from fauxka.storage.deleted_records import DeletedRecords, DeletionCause


def log_start_of(recorder: ConsumptionRecorder, topic: str) -> int:
    """Return where the log of partition 0 begins for a group that has not used it yet."""
    return recorder.histories.group("new").partition((topic, 0)).log_start


def test_starts_of_logs_end_with_their_topic() -> None:
    recorder = ConsumptionRecorder({b"1": "orders", b"2": "invoices"}.get)
    recorder.deleted("orders", 0, DeletedRecords(0, 7, DeletionCause.RETENTION_MS, 0))
    recorder.deleted("invoices", 0, DeletedRecords(0, 9, DeletionCause.RETENTION_MS, 0))

    recorder.topics_removed({b"1": "orders"})

    assert (log_start_of(recorder, "orders"), log_start_of(recorder, "invoices")) == (0, 9)


def test_starts_of_logs_that_were_read_before_end_with_their_topic() -> None:
    recorder = ConsumptionRecorder({b"1": "orders"}.get)
    recorder.deleted("orders", 0, DeletedRecords(0, 7, DeletionCause.RETENTION_MS, 0))
    recorder.histories.group("billing")

    recorder.topics_removed({b"1": "orders"})

    assert log_start_of(recorder, "orders") == 0
