"""Idempotent producers over changes of the leader: duplicates, sequences, epochs, and what DescribeProducers returns.

The topics have one partition with leader 1 and followers 2 and 3.
"""

from collections.abc import Callable
from functools import partial

from fauxka.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

from ..capture_replicas import electing, reassigning
from .recorder import FailoverRecorder
from .requests import Topic, describing_producers, fetching, partitions, producing, records

LAYOUT = [[1, 2, 3]]
UNCLEAN = 1
# Kafka keeps five batches of a producer; each has two records.
BATCHES = 7
BATCH_RECORDS = 2
PRODUCER = 9001
SECOND_PRODUCER = 9002


def script(recorder: FailoverRecorder) -> None:
    """Record every case."""
    _producer_ids(recorder, "all alive", (1, 2, 3, 1))
    _moved(recorder)
    _ended(recorder, "the leader stops", "stopped", recorder.stop)
    _ended(recorder, "the leader is killed", "killed", recorder.kill)
    _caught_up(recorder)
    _truncated(recorder)


def _producer_ids(recorder: FailoverRecorder, scene: str, nodes: tuple[int, ...]) -> None:
    """Record a producer id of each node.

    The first request to a node gets COORDINATOR_LOAD_IN_PROGRESS while the node asks for its block of ids, so one id is
    taken without a line.
    """
    recorder.scene(f"producer ids, {scene}")
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
    for node in nodes:
        recorder.until(partial(_has_ids, recorder, node, request), lambda: "the node has no block of ids")
        recorder.case(node, "a producer id", 4, request)


def _has_ids(recorder: FailoverRecorder, node: int, request: InitProducerIdRequest) -> bool:
    response = recorder.call(node, 4, request)
    assert isinstance(response, InitProducerIdResponse)
    return response.error_code == 0


def _batch(number: int, *, producer: int = PRODUCER, epoch: int = 0) -> bytes:
    return records(BATCH_RECORDS, producer=(producer, epoch, number * BATCH_RECORDS))


def _filled(recorder: FailoverRecorder, name: str) -> Topic:
    topic = recorder.create(name, LAYOUT)
    for number in range(BATCHES):
        recorder.case(1, f"batch {number}", 11, producing(topic, _batch(number)))
    recorder.case(1, "batch 0 of another producer", 11, producing(topic, _batch(0, producer=SECOND_PRODUCER)))
    recorder.until_high_watermark(topic, (BATCHES + 1) * BATCH_RECORDS, *recorder.live)
    return topic


def _producers(recorder: FailoverRecorder, topic: Topic) -> None:
    for node in sorted(recorder.live):
        recorder.case(node, "producers", 0, describing_producers(topic))


def _continued(recorder: FailoverRecorder, topic: Topic, leader: int) -> None:
    """Repeat every batch at the new leader, then go on."""
    for number in range(BATCHES):
        recorder.case(leader, f"batch {number} again", 11, producing(topic, _batch(number)))
    recorder.case(leader, "batch 6 again with acks 1", 11, producing(topic, _batch(6), 1))
    recorder.case(leader, "batch 8 before batch 7", 11, producing(topic, _batch(8)))
    recorder.case(leader, "batch 7", 11, producing(topic, _batch(7)))
    recorder.case(leader, "batch 7 again", 11, producing(topic, _batch(7)))
    recorder.case(leader, "batch 2 again", 11, producing(topic, _batch(2)))
    recorder.case(leader, "batch 3 again", 11, producing(topic, _batch(3)))
    recorder.case(leader, "batch 1 in epoch 1", 11, producing(topic, _batch(1, epoch=1)))
    recorder.case(leader, "batch 0 in epoch 1", 11, producing(topic, _batch(0, epoch=1)))
    recorder.case(leader, "batch 8 in epoch 0", 11, producing(topic, _batch(8)))
    recorder.case(leader, "batch 1 of the other producer", 11, producing(topic, _batch(1, producer=SECOND_PRODUCER)))
    recorder.until_high_watermark(topic, (BATCHES + 4) * BATCH_RECORDS, *recorder.live)
    _producers(recorder, topic)
    recorder.case(leader, "fetch", 12, fetching(topic, 0))


def _moved(recorder: FailoverRecorder) -> None:
    recorder.scene("the leader moves")
    topic = _filled(recorder, "moved")
    _producers(recorder, topic)
    recorder.case(2, "batch 7 to a follower", 11, producing(topic, _batch(7)))
    recorder.case(1, "reorder", 1, reassigning((topic.name, [(0, [2, 1, 3])])))
    recorder.case(1, "elect", 2, electing(0, (topic.name, [0])))
    recorder.until_leader(topic, 2)
    _producers(recorder, topic)
    _continued(recorder, topic, 2)


def _ended(recorder: FailoverRecorder, scene: str, name: str, end: Callable[[int], None]) -> None:
    """End node 1 by end, and start it again. name: of the topic, and of what happened to the node."""
    recorder.scene(scene)
    topic = _filled(recorder, name)
    end(1)
    _producers(recorder, topic)
    _continued(recorder, topic, 2)
    recorder.start(1)
    _producers(recorder, topic)
    _producer_ids(recorder, f"node 1 was {name}", (1, 2))


def _caught_up(recorder: FailoverRecorder) -> None:
    recorder.scene("a follower that was dead becomes the leader")
    topic = recorder.create("caught-up", LAYOUT)
    recorder.kill(2)
    for number in range(BATCHES):
        recorder.case(1, f"batch {number}", 11, producing(topic, _batch(number)))
    recorder.case(1, "batch 0 of another producer", 11, producing(topic, _batch(0, producer=SECOND_PRODUCER)))
    recorder.start(2)
    recorder.until_high_watermark(topic, (BATCHES + 1) * BATCH_RECORDS, 1, 2, 3)
    recorder.stop(1)
    _continued(recorder, topic, 2)
    recorder.start(1)


def _truncated(recorder: FailoverRecorder) -> None:
    recorder.scene("an unclean election loses batches")
    topic = recorder.create("truncated", LAYOUT, unclean_leader_election_enable="false")
    for number in range(3):
        recorder.case(1, f"batch {number}", 11, producing(topic, _batch(number)))
    recorder.until_high_watermark(topic, 6, 1, 2, 3)
    recorder.freeze(2)
    recorder.freeze(3)
    for number in range(3, 6):
        recorder.case(1, f"batch {number}", 11, producing(topic, _batch(number)))
    recorder.case(1, "batch 0 of another producer", 11, producing(topic, _batch(0, producer=SECOND_PRODUCER)))
    recorder.case(1, "batch 1 of another producer", 11, producing(topic, _batch(1, producer=SECOND_PRODUCER)))
    _producers(recorder, topic)
    recorder.kill(1)
    recorder.thaw(2)
    recorder.thaw(3)
    recorder.case(2, "partitions", 0, partitions(topic))
    _producers(recorder, topic)
    recorder.case(2, "unclean election", 2, electing(UNCLEAN, (topic.name, [0])))
    recorder.until_leader(topic, 2)
    recorder.case(2, "partitions after the election", 0, partitions(topic))
    _producers(recorder, topic)
    for number in (6, 5, 4, 2, 3, 4, 3):
        recorder.case(2, f"batch {number} after the election", 11, producing(topic, _batch(number)))
    for number in (2, 1, 0):
        request = producing(topic, _batch(number, producer=SECOND_PRODUCER))
        recorder.case(2, f"batch {number} of the other producer after the election", 11, request)
    _producers(recorder, topic)
    recorder.start(1)
    recorder.scene("the former leader is back and truncated")
    end = recorder.high_watermark(2, topic)
    recorder.until_high_watermark(topic, end, 1, 2, 3)
    _producers(recorder, topic)
    recorder.case(1, "fetch", 12, fetching(topic, 0))
    recorder.case(2, "fetch", 12, fetching(topic, 0))
    recorder.electing()
    for number in (5, 3, 4, 6):
        recorder.case(1, f"batch {number}", 11, producing(topic, _batch(number)))
