"""ElectLeaders, AlterPartitionReassignments and ListPartitionReassignments while nodes are dead, frozen or back."""

from collections.abc import Sequence

from fauxka.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from fauxka.protocol.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest

from ..capture_replicas import electing, listing, reassigning
from .recorder import FailoverRecorder
from .requests import Topic, fetching, listing_offsets, metadata, partitions, producing, records

PREFERRED, UNCLEAN = 0, 1
KINDS = {"preferred": PREFERRED, "unclean": UNCLEAN}


def script(recorder: FailoverRecorder) -> None:
    """Record every case."""
    topics = _elected_in_health(recorder)
    _preferred_dead(recorder, topics)
    _nobody_in_sync(recorder)
    _reassigned(recorder)
    _reassigned_in_progress(recorder)
    _reassigned_while_dead(recorder)


def _elect(recorder: FailoverRecorder, *topics: Topic, versions: Sequence[int] = (1, 2)) -> None:
    """Elect by name, each kind, then all preferred ones."""
    node = min(recorder.live)
    for topic in topics:
        for kind, number in KINDS.items():
            for version in versions:
                indexes = list(range(len(topic.layout)))
                request = electing(number, (topic.name, indexes))
                recorder.case(node, f"{kind} election of {topic.name}", version, request)
                recorder.settle()
    for kind, number in KINDS.items():
        recorder.case(node, f"{kind} election of all", 2, electing(number, all_topics=True))
        recorder.settle()


def _described(recorder: FailoverRecorder, *topics: Topic) -> None:
    recorder.case(min(recorder.live), "partitions", 0, partitions(*topics))


def _elected_in_health(recorder: FailoverRecorder) -> list[Topic]:
    recorder.scene("all alive")
    topics = [
        recorder.create("threes", [[1, 2, 3], [2, 3, 1], [3, 1, 2]]),
        recorder.create("ones", [[1], [2], [3]]),
    ]
    _elect(recorder, topics[0], versions=(0, 1, 2))
    recorder.case(1, "reorder", 1, reassigning(("threes", [(0, [2, 1, 3]), (1, [2, 1, 3])])))
    recorder.settle()
    _described(recorder, *topics)
    recorder.case(1, "unclean election with a live leader", 2, electing(UNCLEAN, ("threes", [0, 1, 2])))
    recorder.case(1, "preferred election of the reordered", 2, electing(PREFERRED, ("threes", [0, 1, 2])))
    recorder.until_leader(topics[0], 2)
    _described(recorder, *topics)
    recorder.case(1, "reorder back", 1, reassigning(("threes", [(0, [1, 2, 3]), (1, [2, 3, 1])])))
    recorder.settle()
    recorder.case(1, "preferred election of all", 2, electing(PREFERRED, all_topics=True))
    recorder.until_leader(topics[0], 1)
    _described(recorder, *topics)
    recorder.case(1, "preferred election of all once more", 2, electing(PREFERRED, all_topics=True))
    return topics


def _preferred_dead(recorder: FailoverRecorder, topics: list[Topic]) -> None:
    recorder.scene("node 1 killed")
    recorder.kill(1)
    _elect(recorder, *topics)
    _described(recorder, *topics)
    recorder.scene("nodes 1 and 2 killed")
    recorder.kill(2)
    _elect(recorder, *topics)
    _described(recorder, *topics)
    recorder.scene("node 1 back")
    recorder.start(1)
    _elect(recorder, *topics)
    _described(recorder, *topics)
    recorder.scene("nodes 1 and 2 back")
    recorder.start(2)
    _elect(recorder, *topics)
    _described(recorder, *topics)


def _nobody_in_sync(recorder: FailoverRecorder) -> None:
    recorder.scene("the last one in sync is killed")
    topics = [recorder.create(f"lost-min{least}", [[1, 2, 3]], min_insync_replicas=str(least)) for least in (1, 2)]
    for topic in topics:
        recorder.case(1, f"produce to {topic.name}", 11, producing(topic, records(2)))
        recorder.until_high_watermark(topic, 2, 1, 2, 3)
    recorder.freeze(2)
    recorder.freeze(3)
    for topic in topics:
        recorder.case(1, f"produce to {topic.name} what will be lost", 11, producing(topic, records(3), 1))
    recorder.kill(1)
    recorder.thaw(3)
    _one_back(recorder, topics)
    recorder.thaw(2)
    _elected_unclean(recorder, topics)
    recorder.start(1)
    recorder.scene("node 1 back as a follower")
    for topic in topics:
        recorder.until_high_watermark(topic, 3, 1, 2, 3)
        recorder.case(1, f"fetch {topic.name}", 12, fetching(topic, 0))
    _elect(recorder, *topics)
    _described(recorder, *topics)


def _one_back(recorder: FailoverRecorder, topics: list[Topic]) -> None:
    recorder.scene("the last one in sync is dead, node 3 back")
    _described(recorder, *topics)
    for topic in topics:
        preferred = electing(PREFERRED, (topic.name, [0]))
        recorder.case(3, f"preferred election of {topic.name}", 2, preferred)
        for version in (10, 12, 17):
            recorder.case(3, f"fetch {topic.name}", version, fetching(topic, 0))
        recorder.each_version(3, f"produce to {topic.name}", (9, 11, 13), producing(topic, records()))
        recorder.case(3, f"latest offset of {topic.name}", 8, listing_offsets(topic, -1))


def _elected_unclean(recorder: FailoverRecorder, topics: list[Topic]) -> None:
    recorder.scene("the last one in sync is dead, nodes 2 and 3 back")
    _described(recorder, *topics)
    recorder.case(2, "unclean election of all", 2, electing(UNCLEAN, all_topics=True))
    recorder.settle()
    for topic in topics:
        recorder.case(2, f"unclean election of {topic.name}", 2, electing(UNCLEAN, (topic.name, [0])))
    recorder.settle()
    _described(recorder, *topics)
    recorder.case(2, "metadata", 12, metadata(*topics))
    # Node 3 was an eligible leader of the second topic, which needed no unclean election.
    for topic, leader in zip(topics, (2, 3), strict=True):
        for name, timestamp in (("latest", -1), ("largest timestamp", -3)):
            recorder.case(leader, f"{name} offset of {topic.name}", 8, listing_offsets(topic, timestamp))
        recorder.case(leader, f"produce to {topic.name}", 11, producing(topic, records()))
        recorder.case(leader, f"fetch {topic.name}", 12, fetching(topic, 0))


def _listed(recorder: FailoverRecorder, topic: Topic) -> None:
    recorder.case(min(recorder.live), "listed, all", 0, listing(all_topics=True))
    recorder.case(min(recorder.live), "listed", 0, listing((topic.name, [0])))
    _described(recorder, topic)


def _reassigned(recorder: FailoverRecorder) -> None:
    recorder.scene("reassigned with all alive")
    topic = recorder.create("moved", [[1, 2]])
    recorder.case(1, "produce", 11, producing(topic, records(2)))
    targets = {
        "a replica added": [1, 2, 3],
        "a replica removed": [1, 2],
        "a follower exchanged": [1, 3],
        "the leader exchanged": [2, 3],
        "the same once more": [2, 3],
        "all exchanged": [1],
        "the leader last": [3, 2, 1],
        "the leader last in a shorter list": [2, 1],
        "the first one a new one": [3, 2],
    }
    for case, replicas in targets.items():
        recorder.case(1, case, 1, reassigning((topic.name, [(0, replicas)])))
        recorder.until_isr(topic, replicas)
        recorder.settle()
        _described(recorder, topic)
    recorder.case(1, "cancelled", 1, reassigning((topic.name, [(0, None)])))
    recorder.case(1, "listed, all", 0, listing(all_topics=True))


def _reassigned_in_progress(recorder: FailoverRecorder) -> None:
    """Node 3 is frozen, so that it cannot join the ISR."""
    recorder.scene("reassigned to a frozen node")
    topic = recorder.create("stuck", [[1, 2]], min_insync_replicas="2")
    recorder.case(1, "produce", 11, producing(topic, records(2)))
    recorder.freeze(3)
    recorder.case(1, "to 2 and 3", 1, reassigning((topic.name, [(0, [2, 3])])))
    recorder.settle()
    _listed(recorder, topic)
    recorder.case(1, "produce in progress", 11, producing(topic, records()))
    # The replicas to be removed count: a new partition has three.
    assignments = [CreatePartitionsAssignment(broker_ids=[1, 2, 3])]
    add = CreatePartitionsTopic(name=topic.name, count=2, assignments=assignments)
    recorder.case(1, "add partitions in progress", 3, CreatePartitionsRequest(topics=[add], timeout_ms=10_000))
    recorder.case(1, "preferred election in progress", 2, electing(PREFERRED, (topic.name, [0])))
    recorder.settle()
    _listed(recorder, topic)
    kept = reassigning((topic.name, [(0, [1, 3])]), allow_replication_factor_change=False)
    recorder.case(1, "another target of the same size", 1, kept)
    recorder.settle()
    _listed(recorder, topic)
    recorder.case(1, "another target", 1, reassigning((topic.name, [(0, [3])])))
    recorder.settle()
    _listed(recorder, topic)
    recorder.case(1, "cancelled", 1, reassigning((topic.name, [(0, None)])))
    recorder.settle()
    _listed(recorder, topic)
    recorder.case(1, "cancelled once more", 1, reassigning((topic.name, [(0, None)])))
    recorder.case(1, "a replica added", 1, reassigning((topic.name, [(0, [1, 2, 3])])))
    recorder.settle()
    _listed(recorder, topic)
    recorder.case(1, "back to what it was", 1, reassigning((topic.name, [(0, [1, 2])])))
    recorder.settle()
    _listed(recorder, topic)
    recorder.case(1, "the leader exchanged", 1, reassigning((topic.name, [(0, [3, 2])])))
    recorder.settle()
    _listed(recorder, topic)
    asked = [DescribableLogDirTopic(topic=topic.name, partitions=[0])]
    for node in (1, 2):
        recorder.case(node, "log dirs", 4, DescribeLogDirsRequest(topics=asked))
    recorder.thaw(3)
    recorder.until_isr(topic, (2, 3))
    recorder.settle()
    recorder.scene("reassigned to a node that is back")
    _listed(recorder, topic)
    for node in (1, 2, 3):
        recorder.case(node, "log dirs", 4, DescribeLogDirsRequest(topics=asked))
        recorder.case(node, "fetch", 12, fetching(topic, 0))


def _reassigned_while_dead(recorder: FailoverRecorder) -> None:
    recorder.scene("reassigned while node 3 is dead")
    topic = recorder.create("dead", [[1, 3]])
    alone = recorder.create("dead-alone", [[3]])
    recorder.kill(3)
    recorder.case(1, "the dead one removed", 1, reassigning((topic.name, [(0, [1, 2])])))
    recorder.until_isr(topic, (1, 2))
    recorder.settle()
    _listed(recorder, topic)
    recorder.case(1, "the only one exchanged", 1, reassigning((alone.name, [(0, [1])])))
    recorder.settle()
    _listed(recorder, alone)
    recorder.case(1, "the only one cancelled", 1, reassigning((alone.name, [(0, None)])))
    recorder.settle()
    _listed(recorder, alone)
    recorder.case(1, "the only one exchanged again", 1, reassigning((alone.name, [(0, [1])])))
    recorder.settle()
    recorder.case(1, "unclean election in progress", 2, electing(UNCLEAN, (alone.name, [0])))
    recorder.settle()
    _listed(recorder, alone)
    recorder.start(3)
    recorder.scene("reassigned while node 3 was dead, node 3 back")
    recorder.until_leader(alone, 1)
    _listed(recorder, alone)
