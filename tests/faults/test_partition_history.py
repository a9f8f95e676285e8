"""What the history of a group in a partition makes of commits that are none."""

from fauxka.faults.consumption.partition_history import PartitionHistory
from fauxka.faults.consumption.receivers import Receiver

MEMBER = Receiver("kafkajs-1", is_member=True)


def test_negative_offset_is_no_committed_offset_and_passes_over_nothing() -> None:
    history = PartitionHistory()

    history.committed_by(MEMBER, -2, request_id=1, is_consumer=True)
    without_offset = history.committed
    history.committed_by(MEMBER, 1, request_id=2, is_consumer=True)

    assert without_offset is None
    assert history.committed == 1
    assert (history.facts, history.missing(log_end=3)) == ([], [])
