"""ListOffsets 1-11, OffsetForLeaderEpoch 2-4: python -m tests.golden.capture_list_offsets HOST:PORT.

Needs a fresh broker with default configuration.
"""

from collections.abc import Sequence

from fauxka.protocol.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from fauxka.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from fauxka.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

from .capture_batches import FIRST_TIMESTAMP, GZIP, batch
from .capture_recorder import Recorder, main

VERSIONS = range(1, 12)
NEWEST = 11
EPOCH_VERSIONS = range(2, 5)
LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING_UPLOAD = -1, -2, -3, -4, -5, -6
SPECIAL = {
    "latest": LATEST,
    "earliest": EARLIEST,
    "max timestamp": MAX_TIMESTAMP,
    "earliest local": EARLIEST_LOCAL,
    "latest tiered": LATEST_TIERED,
    "earliest pending upload": EARLIEST_PENDING_UPLOAD,
    "-7": -7,
    "-100": -100,
}
# Around every record's timestamp: exact, one before, one after.
DELTAS = (-1, 0, 1, 10, 15, 20, 21, 55, 60, 70, 81, 100, 101, 200, 205, 210, 211, 220, 221, 10**9)


def capture(recorder: Recorder) -> None:
    """Record every case."""
    _make_topics(recorder)
    for name in ("times", "empty", "trimmed", "trimmed-inside", "emptied", "appended", "one-batch"):
        for case, timestamp in SPECIAL.items():
            for version in VERSIONS if name in ("times", "empty") else (1, NEWEST):
                recorder.case(f"{case} of {name}", version, one(name, timestamp))
    for delta in DELTAS:
        for name in ("times", "trimmed", "one-batch"):
            recorder.case(f"{delta} ms after the first of {name}", 7, one(name, FIRST_TIMESTAMP + delta))
    for version in VERSIONS:
        recorder.case("an exact timestamp", version, one("times", FIRST_TIMESTAMP + 10))
        recorder.case("after the last record", version, one("times", FIRST_TIMESTAMP + 221))
    recorder.case("timestamp 0", NEWEST, one("times", 0))
    recorder.case("timestamp 0 of an empty log", NEWEST, one("empty", 0))
    recorder.case("a time before every LogAppendTime", NEWEST, one("appended", FIRST_TIMESTAMP))
    _errors(recorder)
    _leader_epochs(recorder)


def one(
    name: str, timestamp: int, *, partition: int = 0, leader_epoch: int = -1, isolation_level: int = 0
) -> ListOffsetsRequest:
    """Return a consumer's request for one partition."""
    request = asking(name, [(partition, timestamp)])
    request.topics[0].partitions[0].current_leader_epoch = leader_epoch
    request.isolation_level = isolation_level
    return request


def asking(name: str, partitions: Sequence[tuple[int, int]]) -> ListOffsetsRequest:
    """Return a consumer's request; a partition is (index, timestamp)."""
    entries = [ListOffsetsPartition(partition_index=index, timestamp=timestamp) for index, timestamp in partitions]
    return ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=name, partitions=entries)])


def delete_records(recorder: Recorder, name: str, offset: int) -> None:
    """Move the log start of partition 0."""
    topic = DeleteRecordsTopic(name=name, partitions=[DeleteRecordsPartition(partition_index=0, offset=offset)])
    recorder.call(DeleteRecordsRequest(topics=[topic], timeout_ms=30_000), 2)


def at(*deltas: int) -> list[int]:
    """Return timestamps."""
    return [FIRST_TIMESTAMP + delta for delta in deltas]


def _make_topics(recorder: Recorder) -> None:
    batches = (
        batch(at(0, 10, 20)),
        batch(at(100, 50, 80)),
        batch(at(60)),
        batch(at(200, 210, 220), codec=GZIP),
        batch(at(220)),
        batch(at(150, 160)),
    )
    recorder.create_topic("times", 2, retention_ms="-1")
    recorder.produce("times", *batches)
    recorder.create_topic("empty", retention_ms="-1")
    recorder.create_topic("trimmed", retention_ms="-1")
    recorder.produce("trimmed", *batches)
    delete_records(recorder, "trimmed", 6)
    recorder.create_topic("trimmed-inside", retention_ms="-1")
    recorder.produce("trimmed-inside", *batches)
    delete_records(recorder, "trimmed-inside", 4)
    recorder.create_topic("emptied", retention_ms="-1")
    recorder.produce("emptied", *batches)
    delete_records(recorder, "emptied", -1)
    recorder.create_topic("appended", retention_ms="-1", message_timestamp_type="LogAppendTime")
    recorder.produce("appended", batch(at(0, 10, 20)))
    recorder.create_topic("one-batch", retention_ms="-1")
    recorder.produce("one-batch", batch(at(10, 220, 60, 220)))


def _errors(recorder: Recorder) -> None:
    for version in VERSIONS:
        recorder.case("unknown topic", version, one("not-there", LATEST))
        recorder.case("unknown partition", version, one("times", LATEST, partition=2))
        recorder.case("the same partition twice", version, asking("times", [(0, LATEST), (0, EARLIEST)]))
        recorder.case("leader epoch 1", version, one("times", LATEST, leader_epoch=1))
        recorder.case("isolation level 1", version, one("times", LATEST, isolation_level=1))
    recorder.case("partition -1", NEWEST, one("times", LATEST, partition=-1))
    recorder.case("an invalid topic name", NEWEST, one("with blank", LATEST))
    for leader_epoch in (0, -2):
        recorder.case(f"leader epoch {leader_epoch}", NEWEST, one("times", LATEST, leader_epoch=leader_epoch))
    for isolation_level in (1, 2, -1):
        for timestamp in (LATEST, EARLIEST, MAX_TIMESTAMP, FIRST_TIMESTAMP + 100):
            request = one("times", timestamp, isolation_level=isolation_level)
            recorder.case(f"isolation level {isolation_level}, timestamp {timestamp}", NEWEST, request)
    for replica_id in (1, 5, -2):
        for timestamp in (LATEST, EARLIEST, MAX_TIMESTAMP, FIRST_TIMESTAMP + 100):
            request = one("times", timestamp)
            request.replica_id = replica_id
            recorder.case(f"replica id {replica_id}, timestamp {timestamp}", NEWEST, request)
    recorder.case("two partitions", NEWEST, asking("times", [(1, LATEST), (0, LATEST)]))
    twice = asking("times", [(0, LATEST)])
    twice.topics += asking("times", [(0, EARLIEST)]).topics
    recorder.case("the same topic twice, the same partition", NEWEST, twice)
    twice = asking("times", [(0, LATEST)])
    twice.topics += asking("times", [(1, LATEST)]).topics
    recorder.case("the same topic twice, two partitions", NEWEST, twice)
    mixed = asking("not-there", [(0, LATEST)])
    mixed.topics += asking("times", [(0, LATEST), (5, LATEST)]).topics + asking("empty", [(0, LATEST)]).topics
    recorder.case("known and unknown ones", NEWEST, mixed)
    recorder.case("no topics", NEWEST, ListOffsetsRequest(replica_id=-1))
    recorder.case("a topic without partitions", NEWEST, asking("times", []))


def _leader_epochs(recorder: Recorder) -> None:
    for name in ("times", "empty", "trimmed", "emptied"):
        for leader_epoch in (0, 1, 5, -1, -2):
            for version in EPOCH_VERSIONS:
                request = epoch_request(name, leader_epoch=leader_epoch)
                recorder.case(f"end of epoch {leader_epoch} of {name}", version, request)
    for version in EPOCH_VERSIONS:
        recorder.case("unknown topic", version, epoch_request("not-there"))
        recorder.case("unknown partition", version, epoch_request("times", partition=2))
        for epoch in (0, 1, -2):
            recorder.case(f"current leader epoch {epoch}", version, epoch_request("times", current_leader_epoch=epoch))
        for replica_id in (-1, -2, 1, 5):
            request = epoch_request("times")
            request.replica_id = replica_id
            recorder.case(f"replica id {replica_id}", version, request)
    twice = epoch_request("times")
    twice.topics[0].partitions *= 2
    recorder.case("the same partition twice", EPOCH_VERSIONS[-1], twice)
    several = epoch_request("empty")
    several.topics += epoch_request("not-there").topics + epoch_request("times").topics
    recorder.case("several topics", EPOCH_VERSIONS[-1], several)
    recorder.case("no topics", EPOCH_VERSIONS[-1], OffsetForLeaderEpochRequest(replica_id=-1))


def epoch_request(
    name: str, *, partition: int = 0, leader_epoch: int = 0, current_leader_epoch: int = -1
) -> OffsetForLeaderEpochRequest:
    """Return a consumer's request for one partition."""
    entry = OffsetForLeaderPartition(
        partition=partition, current_leader_epoch=current_leader_epoch, leader_epoch=leader_epoch
    )
    return OffsetForLeaderEpochRequest(replica_id=-1, topics=[OffsetForLeaderTopic(topic=name, partitions=[entry])])


if __name__ == "__main__":
    main(capture)
