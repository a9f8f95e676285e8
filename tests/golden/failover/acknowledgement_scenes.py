"""What is acknowledged, and what is visible, while the ISR is below min.insync.replicas.

The topics have one partition with leader 1 and followers 2 and 3. Node 3 is frozen, then node 2 killed.
"""

from fauxka.protocol.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic

from ..raw_batches import batch as raw_batch
from .recorder import FailoverRecorder
from .requests import (
    READ_COMMITTED,
    TIMEOUT_MS,
    Topic,
    ending_epoch,
    fetching,
    listing_offsets,
    metadata,
    partitions,
    producing,
    records,
)

LAYOUT = [[1, 2, 3]]
PRODUCER = 7001
OTHER_PRODUCER = 7002
# Below replica.lag.time.max.ms, and longer than a response takes.
AT_ONCE_MS = 1500
# Behind the fencing of a frozen node.
LONG_MS = 12_000
# Longer than replica.high.watermark.checkpoint.interval.ms.
CHECKPOINT_SECONDS = 7.0
ENDS = {"latest": -1, "earliest": -2, "largest timestamp": -3, "earliest local": -4}


def script(recorder: FailoverRecorder) -> None:
    """Record every case."""
    recorder.scene("all in sync")
    topics = [recorder.create(f"min{least}", LAYOUT, min_insync_replicas=str(least)) for least in (1, 2, 3)]
    unclean = recorder.create("min2-unclean", LAYOUT, min_insync_replicas="2", unclean_leader_election_enable="true")
    for topic in (*topics, unclean):
        recorder.case(1, f"produce to {topic.name}", 11, producing(topic, records(2)))
        recorder.until_high_watermark(topic, 2, 1, 2, 3)
    _observed(recorder, topics[2], 2, 1, 2)
    _unnoticed(recorder, topics)
    _below_min(recorder, topics)
    _one_in_sync(recorder, topics)
    _leader_returns(recorder, topics[1], unclean)
    _all_back(recorder, topics)
    _back_in_time(recorder, topics[2])


def _observed(recorder: FailoverRecorder, topic: Topic, end: int, *nodes: int) -> None:
    """Record what nodes show of a topic; end: the leader's log end offset."""
    for node in nodes:
        for name, timestamp in ENDS.items():
            recorder.case(node, f"{name} offset of {topic.name}", 8, listing_offsets(topic, timestamp))
        committed = listing_offsets(topic, -1, isolation_level=READ_COMMITTED)
        recorder.case(node, f"latest committed offset of {topic.name}", 8, committed)
        recorder.case(node, f"latest offset of {topic.name} for a replica", 8, listing_offsets(topic, -1, replica_id=2))
        recorder.case(node, f"latest offset of {topic.name} for a tool", 8, listing_offsets(topic, -1, replica_id=-2))
        recorder.case(node, f"offset of the last record of {topic.name}", 8, listing_offsets(topic, 1_700_000_000_001))
        for offset in (0, end - 1, end, end + 1):
            recorder.each_version(node, f"fetch {topic.name} at {offset}", (10, 12, 17), fetching(topic, offset))
        recorder.case(node, f"end of epoch 0 of {topic.name}", 4, ending_epoch(topic, 0))


def _deleting(topic: Topic, offset: int) -> DeleteRecordsRequest:
    asked = [DeleteRecordsPartition(partition_index=0, offset=offset)]
    return DeleteRecordsRequest(topics=[DeleteRecordsTopic(name=topic.name, partitions=asked)], timeout_ms=TIMEOUT_MS)


def _unnoticed(recorder: FailoverRecorder, topics: list[Topic]) -> None:
    recorder.scene("a follower frozen, not yet noticed")
    recorder.freeze(3, noticed=False)
    waiting = [
        recorder.waiting(
            1,
            f"produce to {topic.name}",
            11,
            producing(topic, records(producer=(PRODUCER, 0, 0)), timeout_ms=LONG_MS),
            arrives=False,
        )
        for topic in topics
    ]
    recorder.timed_case(1, "produce with acks 1", 11, producing(topics[1], records(), 1), bound_ms=AT_ONCE_MS)
    duplicate = recorder.waiting(
        1,
        "produce a duplicate",
        11,
        producing(topics[2], records(producer=(PRODUCER, 0, 0)), timeout_ms=LONG_MS),
    )
    recorder.case(1, "a wait of its own timeout", 11, producing(topics[2], records(), timeout_ms=500))
    recorder.case(1, "a wait of timeout 0", 11, producing(topics[2], records(), timeout_ms=0))
    for one, topic in zip(waiting, topics, strict=True):
        one.finish(bound_ms=LONG_MS if topic is topics[2] else AT_ONCE_MS)
    duplicate.finish(bound_ms=LONG_MS)


def _below_min(recorder: FailoverRecorder, topics: list[Topic]) -> None:
    """The ISR is [1, 2]: enough for min 2, too few for min 3, whose log has 5 records and the high watermark 2."""
    recorder.scene("two of three in sync")
    recorder.settle()
    recorder.case(1, "partitions", 0, partitions(*topics))
    least = topics[2]
    recorder.each_version(1, "produce", (3, 7, 8, 9, 10, 11, 12, 13), producing(least, records()))
    recorder.case(1, "produce a duplicate", 11, producing(least, records(producer=(PRODUCER, 0, 0))))
    recorder.case(1, "produce after a gap", 11, producing(least, records(producer=(PRODUCER, 0, 9))))
    wrong = raw_batch(1, 0, has_wrong_crc=True)
    recorder.case(1, "produce a wrong checksum", 11, producing(least, wrong))
    recorder.case(1, "produce to a partition that is not there", 11, producing(least, records(), partition=1))
    recorder.case(2, "produce to a follower", 11, producing(least, records()))
    one = records(producer=(PRODUCER, 0, 1))
    recorder.case(1, "produce with acks 1", 11, producing(least, one, 1))
    recorder.case(1, "produce a duplicate with acks 1", 11, producing(least, one, 1))
    recorder.case(1, "produce after a gap with acks 1", 11, producing(least, records(producer=(PRODUCER, 0, 9)), 1))
    recorder.without_answer(1, "produce with acks 0", 11, producing(least, records(), 0))
    recorder.without_answer(2, "produce with acks 0 to a follower", 11, producing(least, records(), 0))
    recorder.pause(1)
    _observed(recorder, least, 7, 1, 2)
    recorder.timed_case(
        1, "a fetch at the high watermark waits", 12, fetching(least, 2, max_wait_ms=1000), bound_ms=1000
    )
    for topic in topics[:2]:
        recorder.case(1, f"produce to {topic.name}", 11, producing(topic, records()))
        recorder.case(1, f"latest offset of {topic.name}", 8, listing_offsets(topic, -1))
    _deleted_records(recorder)


def _deleted_records(recorder: FailoverRecorder) -> None:
    """The records of a topic that was created with one replica frozen, with acks 1 and too few in sync."""
    topic = recorder.create("min3-deleted", LAYOUT, min_insync_replicas="3")
    recorder.case(1, "partitions of a topic created with a replica frozen", 0, partitions(topic))
    recorder.case(1, "produce to it", 11, producing(topic, records(4), 1))
    recorder.case(1, "produce to it with acks -1", 11, producing(topic, records(4)))
    recorder.case(1, "latest offset of it", 8, listing_offsets(topic, -1))
    for offset in (0, 1, -1, 4, 5):
        recorder.case(1, f"delete records up to {offset}", 2, _deleting(topic, offset))
    enough = recorder.create("min2-deleted", LAYOUT, min_insync_replicas="2")
    recorder.case(1, "produce to one with enough in sync", 11, producing(enough, records(4)))
    recorder.case(1, "delete records of it", 2, _deleting(enough, 3))
    recorder.case(1, "earliest offset of it", 8, listing_offsets(enough, -2))
    recorder.case(2, "fetch it from the follower", 12, fetching(enough, 2))


def _one_in_sync(recorder: FailoverRecorder, topics: list[Topic]) -> None:
    recorder.scene("one of three in sync")
    recorder.kill(2)
    recorder.case(1, "partitions", 0, partitions(*topics))
    for topic in topics:
        recorder.case(1, f"produce to {topic.name}", 11, producing(topic, records()))
        recorder.case(1, f"produce to {topic.name} with acks 1", 11, producing(topic, records(), 1))
        recorder.case(1, f"latest offset of {topic.name}", 8, listing_offsets(topic, -1))
        recorder.case(1, f"fetch {topic.name}", 12, fetching(topic, 4))


def _leader_returns(recorder: FailoverRecorder, clean: Topic, unclean: Topic) -> None:
    """Node 1 alone is in the ISR, with records above the high watermark; it stops cleanly, then it is killed."""
    recorder.scene("the last one in sync stops and returns")
    recorder.case(1, "produce with acks 1", 11, producing(unclean, records(), 1))
    recorder.case(1, "fetch before", 12, fetching(clean, 4))
    recorder.stop(1)
    recorder.start(1)
    _returned(recorder, clean, unclean)
    recorder.scene("the last one in sync is killed and returns")
    recorder.pause(CHECKPOINT_SECONDS)
    recorder.case(1, "produce with acks 1", 11, producing(unclean, records(), 1))
    recorder.kill(1)
    recorder.start(1)
    _returned(recorder, clean, unclean)


def _returned(recorder: FailoverRecorder, *topics: Topic) -> None:
    recorder.case(1, "partitions", 0, partitions(*topics))
    recorder.case(1, "metadata", 12, metadata(*topics))
    for topic in topics:
        for name, timestamp in ENDS.items():
            recorder.case(1, f"{name} offset of {topic.name}", 8, listing_offsets(topic, timestamp))
        committed = listing_offsets(topic, -1, isolation_level=READ_COMMITTED)
        recorder.case(1, f"latest committed offset of {topic.name}", 8, committed)
        recorder.each_version(1, f"fetch {topic.name}", (10, 12, 17), fetching(topic, 2))
        recorder.case(1, f"produce to {topic.name}", 11, producing(topic, records()))
        recorder.case(1, f"end of epoch 0 of {topic.name}", 4, ending_epoch(topic, 0))


def _all_back(recorder: FailoverRecorder, topics: list[Topic]) -> None:
    recorder.scene("all back")
    recorder.start(2)
    recorder.case(1, "partitions without node 3", 0, partitions(*topics))
    recorder.thaw(3)
    recorder.electing()
    recorder.case(1, "partitions", 0, partitions(*topics))
    for topic in topics:
        recorder.case(1, f"produce to {topic.name}", 11, producing(topic, records()))
        recorder.case(1, f"latest offset of {topic.name}", 8, listing_offsets(topic, -1))


def _back_in_time(recorder: FailoverRecorder, topic: Topic) -> None:
    recorder.scene("a follower returns while requests wait")
    end = recorder.high_watermark(1, topic)
    recorder.freeze(3, noticed=False)
    producer = producing(topic, records(producer=(OTHER_PRODUCER, 0, 0)), timeout_ms=19_000)
    produced = recorder.waiting(1, "produce", 11, producer)
    fetches = [
        recorder.waiting(node, f"fetch v{version} at the end", version, fetching(topic, end, max_wait_ms=19_000))
        for node in (1, 2)
        for version in (10, 12)
        if (node, version) != (2, 10)
    ]
    recorder.until_isr(topic, (1, 2))
    recorder.thaw(3)
    produced.finish(bound_ms=19_000)
    for one in fetches:
        one.finish(bound_ms=19_000)
