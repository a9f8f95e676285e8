"""What a broker answers to Fetch 4-18 without sessions: python -m tests.golden.capture_fetch HOST:PORT.

Needs a fresh broker with default configuration.
"""

from fauxka.protocol.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from fauxka.protocol.messages.delete_topics import DeleteTopicsRequest
from fauxka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ReplicaState

from .capture_batches import FIRST_TIMESTAMP, GZIP, batch
from .capture_recorder import Recorder, main

VERSIONS = range(4, 19)
# The newest version that asks by name, the newest of all.
BY_NAME, BY_ID = 12, 18
MANY_BYTES = 1_000_000
WAIT_MS = 1500
UNKNOWN_ID = bytes(range(16))
SMALL = batch([FIRST_TIMESTAMP])
THREE = batch([FIRST_TIMESTAMP + delta for delta in (0, 5, 10)], value=b"x" * 20)
TEN = batch([FIRST_TIMESTAMP + delta for delta in range(10)], value=b"y" * 30)


class Fetching:
    """Builds fetch requests that carry name and id of each topic; the version decides which one is sent."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def topic(self, name: str, *partitions: FetchPartition) -> FetchTopic:
        """Return the entry of one topic."""
        topic_id = self._recorder.topic_ids.get(name, UNKNOWN_ID)
        return FetchTopic(topic=name, topic_id=topic_id, partitions=list(partitions))

    def one(self, name: str, offset: int, *, partition: int = 0, partition_max_bytes: int = MANY_BYTES) -> FetchRequest:
        """Return a request for one partition that is answered at once."""
        return request_for(
            self.topic(name, asked(partition=partition, offset=offset, partition_max_bytes=partition_max_bytes))
        )


def asked(
    *, partition: int = 0, offset: int = 0, partition_max_bytes: int = MANY_BYTES, leader_epoch: int = -1
) -> FetchPartition:
    """Return the entry of one partition."""
    return FetchPartition(
        partition=partition,
        fetch_offset=offset,
        partition_max_bytes=partition_max_bytes,
        current_leader_epoch=leader_epoch,
    )


def request_for(
    *topics: FetchTopic, max_bytes: int = MANY_BYTES, min_bytes: int = 0, max_wait_ms: int = 0, isolation_level: int = 0
) -> FetchRequest:
    """Return a consumer's request, by default one that is answered at once."""
    return FetchRequest(
        replica_id=-1,
        topics=list(topics),
        max_bytes=max_bytes,
        min_bytes=min_bytes,
        max_wait_ms=max_wait_ms,
        isolation_level=isolation_level,
    )


def capture(recorder: Recorder) -> None:
    """Record every case."""
    fetching = Fetching(recorder)
    recorder.create_topic("fetched", 2, retention_ms="-1")
    recorder.produce("fetched", THREE, SMALL, TEN)
    recorder.produce("fetched", THREE, TEN, partition=1)
    recorder.create_topic("empty", 1, retention_ms="-1")
    _versions(recorder, fetching)
    for version in (BY_NAME, BY_ID):
        _offsets(recorder, fetching, version)
        _limits(recorder, fetching, version)
        _several_partitions(recorder, fetching, version)
        _unknown(recorder, fetching, version)
        _epochs_and_replicas(recorder, fetching, version)
    _log_start(recorder, fetching)
    _kinds_of_batches(recorder, fetching)
    _waiting(recorder, fetching)


def _versions(recorder: Recorder, fetching: Fetching) -> None:
    recorder.each_version("everything from offset 0", VERSIONS, lambda _: fetching.one("fetched", 0))
    recorder.each_version("at the end of the log", VERSIONS, lambda _: fetching.one("fetched", 14))
    recorder.each_version("beyond the end", VERSIONS, lambda _: fetching.one("fetched", 15))
    recorder.each_version("unknown topic", VERSIONS, lambda _: fetching.one("not-there", 0))
    recorder.each_version("unknown partition", VERSIONS, lambda _: fetching.one("fetched", 0, partition=2))
    recorder.each_version("no topics", VERSIONS, lambda _: request_for())


def _offsets(recorder: Recorder, fetching: Fetching, version: int) -> None:
    for offset in (1, 3, 4, 13, -1, -2, 2**62):
        recorder.case(f"offset {offset}", version, fetching.one("fetched", offset))
    recorder.case("offset 0 of an empty log", version, fetching.one("empty", 0))
    recorder.case("offset 1 of an empty log", version, fetching.one("empty", 1))
    recorder.case("partition -1", version, fetching.one("fetched", 0, partition=-1))


def _limits(recorder: Recorder, fetching: Fetching, version: int) -> None:
    first_two = len(THREE) + len(SMALL)
    sizes = (-1, 0, 1, len(THREE) - 1, len(THREE), len(THREE) + 1, first_two - 1, first_two, first_two + 70)
    for size in sizes:
        limited = fetching.one("fetched", 0, partition_max_bytes=size)
        recorder.case(f"partition_max_bytes {size}", version, limited)
        limited = fetching.one("fetched", 0)
        limited.max_bytes = size
        recorder.case(f"max_bytes {size}", version, limited)
    limited = fetching.one("fetched", 5, partition_max_bytes=1)
    recorder.case("partition_max_bytes 1 from the middle of a batch", version, limited)
    limited = fetching.one("fetched", 14, partition_max_bytes=1)
    recorder.case("partition_max_bytes 1 at the end", version, limited)


def _several_partitions(recorder: Recorder, fetching: Fetching, version: int) -> None:
    both = fetching.topic("fetched", asked(partition=0), asked(partition=1))
    reverse = fetching.topic("fetched", asked(partition=1), asked(partition=0))
    recorder.case("two partitions", version, request_for(both))
    recorder.case("two partitions the other way round", version, request_for(reverse))
    all_bytes = len(THREE) * 2 + len(SMALL) + len(TEN) * 2
    for size in (0, 1, len(THREE) + 1, len(THREE) + len(SMALL) + len(TEN), all_bytes - 1, all_bytes):
        recorder.case(f"two partitions, max_bytes {size}", version, request_for(both, max_bytes=size))
        recorder.case(f"the other way round, max_bytes {size}", version, request_for(reverse, max_bytes=size))
    small = fetching.topic(
        "fetched", asked(partition=0, partition_max_bytes=1), asked(partition=1, partition_max_bytes=1)
    )
    recorder.case("two partitions with partition_max_bytes 1", version, request_for(small))
    at_end_first = fetching.topic("fetched", asked(partition=0, offset=14), asked(partition=1, partition_max_bytes=1))
    recorder.case("the first one at its end, then partition_max_bytes 1", version, request_for(at_end_first))
    failing_first = fetching.topic("fetched", asked(partition=0, offset=99), asked(partition=1, partition_max_bytes=1))
    recorder.case("the first one out of range, then partition_max_bytes 1", version, request_for(failing_first))
    twice = fetching.topic("fetched", asked(offset=0), asked(offset=4))
    recorder.case("the same partition twice", version, request_for(twice))
    topics = (fetching.topic("fetched", asked(offset=3)), fetching.topic("fetched", asked(offset=4)))
    recorder.case("the same topic twice, the same partition", version, request_for(*topics))
    topics = (fetching.topic("fetched", asked()), fetching.topic("fetched", asked(partition=1)))
    recorder.case("the same topic twice, two partitions", version, request_for(*topics))
    topics = (fetching.topic("fetched", asked()), fetching.topic("empty", asked()))
    recorder.case("two topics", version, request_for(*topics))
    recorder.case("a topic without partitions", version, request_for(fetching.topic("fetched")))


def _unknown(recorder: Recorder, fetching: Fetching, version: int) -> None:
    mixed = (
        fetching.topic("fetched", asked(offset=4)),
        fetching.topic("not-there", asked()),
        fetching.topic("empty", asked(), asked(partition=7)),
    )
    recorder.case("known and unknown ones", version, request_for(*mixed))
    recorder.case("an invalid topic name", version, fetching.one("with blank", 0))
    recorder.case("an empty topic name", version, fetching.one("", 0))
    zero = FetchTopic(topic="", topic_id=bytes(16), partitions=[asked()])
    recorder.case("a zero topic id", version, request_for(zero))
    unknown = FetchTopic(topic="not-there-2", topic_id=bytes([7] * 16), partitions=[asked()])
    two = (fetching.topic("not-there", asked()), unknown)
    recorder.case("two unknown topics", version, request_for(*two))
    name = f"deleted-{version}"
    recorder.create_topic(name)
    recorder.call(DeleteTopicsRequest(topic_names=[name], timeout_ms=30_000), 5)
    recorder.settle()
    recorder.case("a topic that was deleted", version, fetching.one(name, 0))


def _epochs_and_replicas(recorder: Recorder, fetching: Fetching, version: int) -> None:
    for epoch in (0, 1, -2):
        entry = fetching.topic("fetched", asked(offset=4, leader_epoch=epoch))
        recorder.case(f"current leader epoch {epoch}", version, request_for(entry))
    wrong_offset = fetching.topic("fetched", asked(offset=99, leader_epoch=1))
    recorder.case("current leader epoch 1, offset out of range", version, request_for(wrong_offset))
    for epoch in (0, 5):
        entry = fetching.topic("fetched", asked(offset=4))
        entry.partitions[0].last_fetched_epoch = epoch
        recorder.case(f"last fetched epoch {epoch}", version, request_for(entry))
    for isolation_level in (1, 2, -1):
        request = fetching.one("fetched", 3)
        request.isolation_level = isolation_level
        recorder.case(f"isolation level {isolation_level}", version, request)
    for replica_id in (1, 5, -2):
        recorder.case(f"replica id {replica_id}", version, _of_replica(replica_id, fetching.one("fetched", 4)))
    for replica_id in (1, 5):
        for epoch in (0, 1, -2):
            request = request_for(fetching.topic("fetched", asked(offset=4, leader_epoch=epoch)))
            case = f"replica id {replica_id}, current leader epoch {epoch}"
            recorder.case(case, version, _of_replica(replica_id, request))
    several = request_for(
        fetching.topic("fetched", asked(offset=99), asked(partition=9), asked(partition=1, leader_epoch=0)),
        fetching.topic("not-there", asked()),
        fetching.topic("empty", asked(leader_epoch=1)),
        max_wait_ms=WAIT_MS,
        min_bytes=1,
    )
    recorder.case("several partitions, replica id 5", version, _of_replica(5, several))
    request = fetching.one("fetched", 4)
    request.rack_id = "rack"
    recorder.case("a rack", version, request)
    request.cluster_id = "not-this-cluster"
    recorder.case("another cluster's id", version, request)


def _of_replica(replica_id: int, request: FetchRequest) -> FetchRequest:
    """Make the request one of a follower, by the field of every version."""
    request.replica_id = replica_id
    request.replica_state = ReplicaState(replica_id=replica_id, replica_epoch=-1)
    return request


def _log_start(recorder: Recorder, fetching: Fetching) -> None:
    recorder.create_topic("trimmed", 1, retention_ms="-1")
    recorder.produce("trimmed", THREE, SMALL, TEN)
    topic = DeleteRecordsTopic(name="trimmed", partitions=[DeleteRecordsPartition(partition_index=0, offset=6)])
    recorder.call(DeleteRecordsRequest(topics=[topic], timeout_ms=30_000), 2)
    for version in (4, 5, BY_NAME, BY_ID):
        for offset in (0, 5, 6, 14):
            recorder.case(f"log start 6, offset {offset}", version, fetching.one("trimmed", offset))


def _kinds_of_batches(recorder: Recorder, fetching: Fetching) -> None:
    recorder.create_topic("kinds", 1, retention_ms="-1")
    stamps = [FIRST_TIMESTAMP + delta for delta in range(5)]
    recorder.produce("kinds", batch(stamps, codec=GZIP), batch(stamps, producer=(4000, 3, 0)))
    recorder.create_topic("appended", 1, retention_ms="-1", message_timestamp_type="LogAppendTime")
    recorder.produce("appended", batch(stamps))
    for version in (4, BY_NAME, BY_ID):
        recorder.case("a compressed batch and an idempotent producer's", version, fetching.one("kinds", 0))
        recorder.case("from the middle of a compressed batch", version, fetching.one("kinds", 2))
        recorder.case("a batch with LogAppendTime", version, fetching.one("appended", 0))


def _waiting(recorder: Recorder, fetching: Fetching) -> None:
    here = fetching.topic("fetched", asked(offset=3))
    at_end = fetching.topic("empty", asked())
    waiting = {
        "nothing there, min_bytes 1": request_for(at_end, min_bytes=1, max_wait_ms=WAIT_MS),
        "less there than min_bytes": request_for(here, min_bytes=MANY_BYTES, max_wait_ms=WAIT_MS),
        "min_bytes larger than max_bytes": request_for(here, min_bytes=300, max_bytes=100, max_wait_ms=WAIT_MS),
        "min_bytes larger than partition_max_bytes": request_for(
            fetching.topic("fetched", asked(offset=3, partition_max_bytes=100)), min_bytes=300, max_wait_ms=WAIT_MS
        ),
    }
    at_once = {
        "nothing there, min_bytes 0": request_for(at_end, min_bytes=0, max_wait_ms=WAIT_MS),
        "nothing there, min_bytes -1": request_for(at_end, min_bytes=-1, max_wait_ms=WAIT_MS),
        "nothing there, max_wait 0": request_for(at_end, min_bytes=1, max_wait_ms=0),
        "nothing there, max_wait -1": request_for(at_end, min_bytes=1, max_wait_ms=-1),
        "as much there as min_bytes": request_for(
            fetching.topic("fetched", asked(offset=3)), min_bytes=len(SMALL) + len(TEN), max_wait_ms=WAIT_MS
        ),
        "one out of range, one at the end": request_for(
            fetching.topic("fetched", asked(offset=99)), at_end, min_bytes=1, max_wait_ms=WAIT_MS
        ),
        "one unknown, one at the end": request_for(
            fetching.topic("not-there", asked()), at_end, min_bytes=1, max_wait_ms=WAIT_MS
        ),
        "an unknown partition, one at the end": request_for(
            fetching.topic("fetched", asked(partition=9)), at_end, min_bytes=1, max_wait_ms=WAIT_MS
        ),
        "a wrong leader epoch, one at the end": request_for(
            fetching.topic("fetched", asked(leader_epoch=9)), at_end, min_bytes=1, max_wait_ms=WAIT_MS
        ),
        "no topics, min_bytes 1": request_for(min_bytes=1, max_wait_ms=WAIT_MS),
        "one with data, one at the end": request_for(here, at_end, min_bytes=1, max_wait_ms=WAIT_MS),
    }
    for case, request in (waiting | at_once).items():
        recorder.timed_case(case, BY_ID, request, bound_ms=WAIT_MS)
    unknown_by_name = request_for(fetching.topic("not-there", asked()), at_end, min_bytes=1, max_wait_ms=WAIT_MS)
    recorder.timed_case("one unknown, one at the end", BY_NAME, unknown_by_name, bound_ms=WAIT_MS)


if __name__ == "__main__":
    main(capture)
