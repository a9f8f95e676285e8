"""Leader epochs in requests: old and new ones, diverging logs, ends of epochs, and which replica to read from."""

from ..capture_replicas import electing, reassigning
from .recorder import FailoverRecorder
from .requests import (
    READ_COMMITTED,
    Topic,
    ending_epoch,
    fetching,
    listing_offsets,
    partitions,
    producing,
    records,
)

PREFERRED = 0
NODES = (1, 2, 3)
# The epoch of the topic at the end, an old one, a newer one, and none.
EPOCHS = (-1, 2, 3, 4)
# Offset and last fetched epoch: the log has epoch 0 up to 3, 1 up to 5, and 3 up to 6.
FETCHED = (
    (0, -1),
    (0, 0),
    (3, 0),
    (4, 0),
    (5, 1),
    (5, 0),
    (5, 2),
    (6, 3),
    (6, 1),
    (6, 2),
    (6, 4),
    (7, 3),
    (7, 1),
    (7, 4),
    (7, -1),
)


def script(recorder: FailoverRecorder) -> None:
    """Record every case."""
    topic = _with_epochs(recorder)
    _ends(recorder, topic)
    _diverging(recorder, topic)
    _current_epoch(recorder, topic)
    _not_available(recorder)
    _preferred_read_replica(recorder)


def _move(recorder: FailoverRecorder, topic: Topic, leader: int) -> None:
    replicas = [leader, *(node for node in NODES if node != leader)]
    recorder.call(1, 1, reassigning((topic.name, [(0, replicas)])))
    recorder.call(1, 2, electing(PREFERRED, (topic.name, [0])))
    recorder.until_leader(topic, leader)


def _with_epochs(recorder: FailoverRecorder) -> Topic:
    """Return a topic of six records whose leader was node 1, 2, 3 and 1, and which node 3 led without a record."""
    recorder.scene("epochs")
    topic = recorder.create("epochs", [[1, 2, 3]])
    recorder.case(1, "produce in epoch 0", 11, producing(topic, records(3)))
    _move(recorder, topic, 2)
    recorder.case(2, "produce in epoch 1", 11, producing(topic, records(2)))
    _move(recorder, topic, 3)
    _move(recorder, topic, 1)
    recorder.case(1, "produce in epoch 3", 11, producing(topic, records(1)))
    recorder.until_high_watermark(topic, 6, *NODES)
    recorder.case(1, "partitions", 0, partitions(topic))
    recorder.case(2, "fetch", 12, fetching(topic, 0))
    return topic


def _ends(recorder: FailoverRecorder, topic: Topic) -> None:
    recorder.scene("ends of epochs")
    for node in (1, 2):
        for epoch in EPOCHS:
            for leader_epoch in (-2, -1, 0, 1, 2, 3, 4) if node == 1 or epoch == -1 else (1,):
                case = f"end of epoch {leader_epoch} in epoch {epoch}"
                recorder.case(node, case, 4, ending_epoch(topic, leader_epoch, epoch))
        for replica_id in (-2, 2):
            case = f"end of epoch 1 for replica {replica_id}"
            recorder.case(node, case, 4, ending_epoch(topic, 1, replica_id=replica_id))
        recorder.each_version(node, "end of epoch 1", (2, 3), ending_epoch(topic, 1))


def _diverging(recorder: FailoverRecorder, topic: Topic) -> None:
    recorder.scene("diverging epochs")
    for node in (1, 2):
        for offset, last_epoch in FETCHED:
            request = fetching(topic, offset, last_fetched_epoch=last_epoch)
            recorder.each_version(node, f"fetch {offset} after epoch {last_epoch}", (12, 17), request)
    waiting = fetching(topic, 6, max_wait_ms=5000, last_fetched_epoch=1)
    recorder.timed_case(1, "a fetch that diverges does not wait", 12, waiting, bound_ms=5000)


def _current_epoch(recorder: FailoverRecorder, topic: Topic) -> None:
    recorder.scene("current leader epochs")
    for node in NODES:
        for epoch in EPOCHS:
            recorder.each_version(node, f"fetch in epoch {epoch}", (9, 10, 11, 12, 16, 17), fetching(topic, 6, epoch))
            for name, timestamp in (("latest", -1), ("earliest", -2)):
                recorder.case(node, f"{name} offset in epoch {epoch}", 8, listing_offsets(topic, timestamp, epoch))
        past = fetching(topic, 9, 2)
        recorder.each_version(node, "fetch past the end in epoch 2", (10, 12, 16), past)


def _not_available(recorder: FailoverRecorder) -> None:
    """A new leader whose high watermark is below the start of its epoch, because too few are in sync."""
    recorder.scene("offsets not available")
    topic = recorder.create("not-available", [[1, 2, 3]], min_insync_replicas="3")
    recorder.case(1, "produce", 11, producing(topic, records(2)))
    recorder.until_high_watermark(topic, 2, *NODES)
    recorder.freeze(3)
    recorder.case(1, "produce with acks 1", 11, producing(topic, records(3), 1))
    _move(recorder, topic, 2)
    for name, timestamp in (
        ("latest", -1),
        ("earliest", -2),
        ("largest timestamp", -3),
        ("visible timestamp", 1_700_000_000_001),
        ("invisible timestamp", 1_700_000_000_002),
    ):
        recorder.each_version(2, f"{name} offset", (1, 4, 5, 8), listing_offsets(topic, timestamp))
        committed = listing_offsets(topic, timestamp, isolation_level=READ_COMMITTED)
        recorder.case(2, f"{name} committed offset", 8, committed)
    recorder.case(2, "latest offset for a tool", 8, listing_offsets(topic, -1, replica_id=-2))
    for offset in (0, 2, 3, 5, 6):
        recorder.case(2, f"fetch {offset}", 12, fetching(topic, offset))
    recorder.case(2, "end of epoch 0", 4, ending_epoch(topic, 0))
    recorder.case(2, "end of epoch 1", 4, ending_epoch(topic, 1))
    recorder.thaw(3)
    recorder.until_high_watermark(topic, 5, *NODES)
    recorder.scene("offsets available")
    recorder.case(2, "latest offset", 8, listing_offsets(topic, -1))


def _preferred_read_replica(recorder: FailoverRecorder) -> None:
    """Each node is in a rack of its own."""
    recorder.scene("preferred read replica")
    topic = recorder.create("racks", [[1, 2, 3]])
    recorder.case(1, "produce", 11, producing(topic, records(2)))
    recorder.until_high_watermark(topic, 2, *NODES)
    for node in (1, 2):
        for rack in ("rack-1", "rack-2", "rack-3", "rack-9", ""):
            for offset in (0, 2, 3):
                request = fetching(topic, offset)
                request.rack_id = rack
                recorder.each_version(node, f"fetch {offset} for {rack or 'no rack'}", (11, 12, 17), request)
    request = fetching(topic, 2, max_wait_ms=5000)
    request.rack_id = "rack-2"
    recorder.timed_case(1, "a fetch for another replica does not wait", 12, request, bound_ms=5000)
    recorder.freeze(2)
    request = fetching(topic, 0)
    request.rack_id = "rack-2"
    recorder.scene("preferred read replica, node 2 frozen")
    recorder.each_version(1, "fetch for rack-2", (11, 12, 17), request)
    recorder.thaw(2)
