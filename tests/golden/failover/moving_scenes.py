"""What requests that wait get when the leader moves, stops or is deleted.

The leader moves by a reassignment that changes the order of the replicas, and a preferred election.
"""

from collections.abc import Mapping

from fauxka.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState

from ..capture_replicas import electing, reassigning
from .recorder import FailoverRecorder
from .requests import Topic, fetching, metadata, partitions, producing, records
from .waiting_request import Waiting

PREFERRED = 0
# Longer than it takes to notice a killed node.
WAIT_MS = 14_000
PRODUCE_WAIT_MS = 19_000
PRODUCER = 7100
FETCH_VERSIONS = (10, 11, 12, 15, 16, 17)
# The older ones are refused by a follower.
FOLLOWER_VERSIONS = (11, 12, 16, 17)
OF_TWO = {1: FETCH_VERSIONS, 2: FOLLOWER_VERSIONS}
OF_ALL = {**OF_TWO, 3: FOLLOWER_VERSIONS}
PRODUCE_VERSIONS = (3, 8, 9, 10, 12, 13)


def script(recorder: FailoverRecorder) -> None:
    """Record every case."""
    _fetches(recorder)
    _produced_meanwhile(recorder)
    _acks_of_all(recorder)
    _removed_leader(recorder)
    _deleted(recorder)
    _stopped(recorder)
    _killed(recorder)


def move(recorder: FailoverRecorder, topic: Topic, replicas: list[int]) -> None:
    """Change the order of the replicas and make the first one the leader."""
    recorder.case(1, f"reorder to {replicas}", 1, reassigning((topic.name, [(0, replicas)])))
    recorder.case(1, "elect", 2, electing(PREFERRED, (topic.name, [0])))
    recorder.until_leader(topic, replicas[0])


def _waiting_fetches(
    recorder: FailoverRecorder, topic: Topic, offset: int, versions_by_node: Mapping[int, tuple[int, ...]]
) -> list[Waiting]:
    """Send fetches to nodes, with and without the epoch 0."""
    waiting = [
        recorder.waiting(
            node,
            "fetch without an epoch" if epoch == -1 else "fetch in epoch 0",
            version,
            fetching(topic, offset, epoch, max_wait_ms=WAIT_MS),
            arrives=False,
        )
        for node, versions in versions_by_node.items()
        for epoch in (-1, 0)
        for version in versions
    ]
    recorder.pause(0.5)
    return waiting


def _fetches(recorder: FailoverRecorder) -> None:
    recorder.scene("fetches wait while the leader moves from 1 to 2")
    topic = recorder.create("fetched", [[1, 2, 3]])
    recorder.case(1, "produce", 11, producing(topic, records()))
    recorder.until_high_watermark(topic, 1, 1, 2, 3)
    waiting = _waiting_fetches(recorder, topic, 1, OF_ALL)
    move(recorder, topic, [2, 1, 3])
    _finish(waiting)
    recorder.case(2, "partitions", 0, partitions(topic))


def _finish(waiting: list[Waiting]) -> None:
    for one in waiting:
        one.finish()


def _produced_meanwhile(recorder: FailoverRecorder) -> None:
    recorder.scene("a record is produced to the new leader while fetches wait")
    topic = recorder.create("produced", [[1, 2, 3]])
    waiting = _waiting_fetches(recorder, topic, 0, OF_ALL)
    move(recorder, topic, [2, 1, 3])
    recorder.case(2, "produce", 11, producing(topic, records()))
    _finish(waiting)


def _waiting_produces(recorder: FailoverRecorder, topic: Topic) -> list[Waiting]:
    """Send requests that wait for node 3, which is frozen; the last one's duplicate too."""
    requests = [producing(topic, records(), timeout_ms=PRODUCE_WAIT_MS) for _ in PRODUCE_VERSIONS]
    waiting = [
        recorder.waiting(1, "produce", version, request)
        for version, request in zip(PRODUCE_VERSIONS, requests, strict=True)
    ]
    for case in ("produce with a producer id", "produce a duplicate"):
        request = producing(topic, records(2, producer=(PRODUCER, 0, 0)), timeout_ms=PRODUCE_WAIT_MS)
        waiting.append(recorder.waiting(1, case, 11, request))
    return waiting


def _acks_of_all(recorder: FailoverRecorder) -> None:
    recorder.scene("acks -1 waits while the leader moves")
    topic = recorder.create("acknowledged", [[1, 2, 3]], min_insync_replicas="3")
    recorder.freeze(3, noticed=False)
    waiting = _waiting_produces(recorder, topic)
    recorder.until_isr(topic, (1, 2))
    move(recorder, topic, [2, 1, 3])
    _finish(waiting)
    recorder.settle()
    recorder.case(2, "partitions", 0, partitions(topic))
    duplicate = producing(topic, records(2, producer=(PRODUCER, 0, 0)))
    recorder.case(2, "produce the duplicate to the new leader", 11, duplicate)
    recorder.thaw(3)
    recorder.case(2, "produce the duplicate to the new leader, node 3 back", 11, duplicate)
    recorder.case(2, "fetch", 12, fetching(topic, 0))


def _removed_leader(recorder: FailoverRecorder) -> None:
    recorder.scene("the leader is no longer a replica")
    topic = recorder.create("reassigned", [[1, 2]])
    waiting = _waiting_fetches(recorder, topic, 0, OF_TWO)
    recorder.case(1, "reassign", 1, reassigning((topic.name, [(0, [2, 3])])))
    recorder.until_isr(topic, (2, 3))
    _finish(waiting)
    recorder.settle()
    recorder.case(2, "partitions", 0, partitions(topic))
    for epoch in (-1, 0):
        kind = "without an epoch" if epoch == -1 else "in epoch 0"
        recorder.each_version(1, f"fetch from the removed replica {kind}", FETCH_VERSIONS, fetching(topic, 0, epoch))
    recorder.each_version(1, "produce to the removed replica", PRODUCE_VERSIONS, producing(topic, records()))


def _deleted(recorder: FailoverRecorder) -> None:
    recorder.scene("the topic is deleted")
    topic = recorder.create("deleted", [[1, 2, 3]], min_insync_replicas="3")
    recorder.freeze(3, noticed=False)
    waiting = _waiting_produces(recorder, topic)
    waiting += _waiting_fetches(recorder, topic, 0, OF_TWO)
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=topic.name)], timeout_ms=10_000)
    recorder.case(1, "delete", 6, request)
    recorder.forget(topic)
    _finish(waiting)
    recorder.thaw(3)


def _stopped(recorder: FailoverRecorder) -> None:
    recorder.scene("the leader stops cleanly")
    topic = recorder.create("stopped", [[1, 2, 3]], min_insync_replicas="3")
    alone = recorder.create("alone", [[1]])
    recorder.freeze(3, noticed=False)
    waiting = _waiting_produces(recorder, topic)
    recorder.until_isr(topic, (1, 2))
    waiting += _waiting_fetches(recorder, topic, 0, OF_TWO)
    waiting += _waiting_fetches(recorder, alone, 0, {1: FETCH_VERSIONS})
    recorder.stop(1)
    _finish(waiting)
    recorder.case(2, "partitions", 0, partitions(topic, alone))
    recorder.start(1)
    recorder.thaw(3)


def _killed(recorder: FailoverRecorder) -> None:
    recorder.scene("the leader is killed")
    topic = recorder.create("killed", [[1, 2, 3]])
    waiting = _waiting_fetches(recorder, topic, 0, OF_ALL)
    recorder.kill(1)
    _finish(waiting)
    recorder.case(2, "metadata", 12, metadata(topic))
    recorder.start(1)
