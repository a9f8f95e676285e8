"""ElectLeaders, AlterPartitionReassignments, ListPartitionReassignments and AlterReplicaLogDirs, every version:
python -m tests.golden.capture_replicas HOST:PORT.

Needs a fresh broker with default configuration.
"""

from fauxka.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from fauxka.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from fauxka.protocol.messages.describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResponse
from fauxka.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from fauxka.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)

from .capture_recorder import Recorder, main

PREFERRED, UNCLEAN = 0, 1
WITHOUT_NAME_CHECK = ("with blank", "", ".", "a" * 250)


def capture(recorder: Recorder) -> None:
    """Record every case."""
    recorder.create_topic("a-two", 2)
    recorder.create_topic("b-one", 1)
    _elections(recorder)
    _election_errors(recorder)
    _reassignments(recorder)
    _cancellations(recorder)
    _reassigned_topics(recorder)
    _replication_factors(recorder)
    _listed(recorder)
    _log_dirs(recorder)
    _log_dir_errors(recorder)


def electing(
    election_type: int, *topics: tuple[str, list[int]], timeout_ms: int = 30_000, all_topics: bool = False
) -> ElectLeadersRequest:
    """Return an ElectLeaders request; all_topics: for null in place of a list."""
    entries = [TopicPartitions(topic=topic, partitions=partitions) for topic, partitions in topics]
    return ElectLeadersRequest(
        election_type=election_type, topic_partitions=None if all_topics else entries, timeout_ms=timeout_ms
    )


def _elections(recorder: Recorder) -> None:
    for version in range(3):
        for election_type in (PREFERRED, UNCLEAN) if version else (PREFERRED,):
            kind = ("preferred", "unclean")[election_type]
            recorder.case(f"{kind}: all partitions", version, electing(election_type, all_topics=True))
            recorder.case(f"{kind}: one partition", version, electing(election_type, ("a-two", [1])))
            recorder.case(
                f"{kind}: two topics, known and unknown",
                version,
                electing(election_type, ("b-one", [0]), ("not-there", [0, 1]), ("a-two", [0, 2, -1])),
            )
            recorder.case(f"{kind}: no topics", version, electing(election_type))


def _election_errors(recorder: Recorder) -> None:
    newest = 2
    for election_type in (-1, 2, 127):
        for version in (1, 2):
            recorder.case(f"election type {election_type}", version, electing(election_type, ("a-two", [0])))
        recorder.case(
            f"election type {election_type}, all partitions", newest, electing(election_type, all_topics=True)
        )
    cases = {
        "a topic without partitions": electing(PREFERRED, ("a-two", [])),
        "the same topic twice": electing(PREFERRED, ("a-two", [0]), ("a-two", [1])),
        "the same partition twice": electing(PREFERRED, ("a-two", [0, 0])),
        "the same partition twice, in two topics": electing(PREFERRED, ("a-two", [0]), ("a-two", [0])),
        "unknown partitions": electing(PREFERRED, ("a-two", [2, 2147483647, -2147483648])),
        "timeout 0": electing(PREFERRED, ("a-two", [0]), timeout_ms=0),
        "timeout -1": electing(PREFERRED, ("a-two", [0]), ("not-there", [3]), timeout_ms=-1),
        "timeout 0, all partitions": electing(PREFERRED, all_topics=True, timeout_ms=0),
        "timeout 0, no topics": electing(PREFERRED, timeout_ms=0),
        "timeout 60 s": electing(PREFERRED, ("a-two", [0]), timeout_ms=60_000),
    }
    for case, request in cases.items():
        recorder.case(case, newest, request)
    for name in WITHOUT_NAME_CHECK:
        recorder.case(f"topic name {name[:20]!r}", newest, electing(UNCLEAN, (name, [0])))


def reassigning(
    *topics: tuple[str, list[tuple[int, list[int] | None]]],
    timeout_ms: int = 30_000,
    allow_replication_factor_change: bool = True,
) -> AlterPartitionReassignmentsRequest:
    """Return an AlterPartitionReassignments request; a partition is (index, replicas)."""
    entries = [
        ReassignableTopic(
            name=name,
            partitions=[ReassignablePartition(partition_index=index, replicas=replicas) for index, replicas in parts],
        )
        for name, parts in topics
    ]
    return AlterPartitionReassignmentsRequest(
        topics=entries, timeout_ms=timeout_ms, allow_replication_factor_change=allow_replication_factor_change
    )


def _reassignments(recorder: Recorder) -> None:
    targets: dict[str, list[int]] = {
        "the same replica": [1],
        "an unknown broker": [2],
        "the same and an unknown broker": [1, 2],
        "an unknown and the same broker": [2, 1],
        "two unknown brokers": [9, 7],
        "the same broker twice": [1, 1],
        "an unknown broker twice": [2, 2],
        "broker -1": [-1],
        "broker -5 and the same": [1, -5],
        "broker 0": [0],
        "the largest broker id": [2147483647],
        "no replicas": [],
    }
    for version in range(2):
        for case, replicas in targets.items():
            recorder.case(f"to {case}", version, reassigning(("a-two", [(0, replicas)])))
            recorder.case(f"unknown topic, to {case}", version, reassigning(("not-there", [(0, replicas)])))
            recorder.case(f"unknown partition, to {case}", version, reassigning(("a-two", [(2, replicas)])))


def _cancellations(recorder: Recorder) -> None:
    for version in range(2):
        recorder.case("cancelled", version, reassigning(("a-two", [(0, None)])))
        recorder.case("unknown topic, cancelled", version, reassigning(("not-there", [(0, None)])))
        recorder.case("unknown partition, cancelled", version, reassigning(("a-two", [(-1, None), (2, None)])))


def _reassigned_topics(recorder: Recorder) -> None:
    cases = {
        "no topics": reassigning(),
        "a topic without partitions": reassigning(("a-two", [])),
        "an unknown topic without partitions": reassigning(("not-there", [])),
        "the same topic twice": reassigning(("a-two", [(0, [1])]), ("a-two", [(1, [1])])),
        "the same topic twice, with errors": reassigning(("a-two", [(0, [2])]), ("a-two", [(1, None)])),
        "the same partition twice": reassigning(("a-two", [(0, [1]), (0, [1])])),
        "the same partition twice, once wrong": reassigning(("a-two", [(0, [1]), (0, [2])])),
        "right and wrong ones": reassigning(
            ("b-one", [(0, [1]), (1, [1])]), ("not-there", [(0, [1])]), ("a-two", [(1, [1]), (0, [3]), (3, None)])
        ),
        "timeout 0": reassigning(("a-two", [(0, [1])]), timeout_ms=0),
        "timeout -1": reassigning(("a-two", [(0, [2])]), timeout_ms=-1),
        "timeout 0, no topics": reassigning(timeout_ms=0),
    }
    for case, request in cases.items():
        recorder.case(case, 1, request)
    for name in WITHOUT_NAME_CHECK:
        recorder.case(f"topic name {name[:20]!r}", 1, reassigning((name, [(0, [1])])))


def _replication_factors(recorder: Recorder) -> None:
    targets: dict[str, list[int] | None] = {
        "the same": [1],
        "more, of an unknown broker": [1, 2],
        "as many, of an unknown broker": [2],
        "none": [],
        "more, of the same broker": [1, 1],
        "cancelled": None,
    }
    for case, replicas in targets.items():
        request = reassigning(("a-two", [(0, replicas)]), allow_replication_factor_change=False)
        recorder.case(f"replication factor kept: {case}", 1, request)


def listing(
    *topics: tuple[str, list[int]], timeout_ms: int = 30_000, all_topics: bool = False
) -> ListPartitionReassignmentsRequest:
    """Return a ListPartitionReassignments request; all_topics: for null in place of a list."""
    entries = [ListPartitionReassignmentsTopics(name=name, partition_indexes=indexes) for name, indexes in topics]
    return ListPartitionReassignmentsRequest(topics=None if all_topics else entries, timeout_ms=timeout_ms)


def _listed(recorder: Recorder) -> None:
    cases = {
        "all after reassignments": listing(all_topics=True),
        "known and unknown partitions": listing(("a-two", [0, 9, -1]), ("not-there", [0])),
        "the same topic twice": listing(("a-two", [0]), ("a-two", [0])),
        "the same partition twice": listing(("a-two", [0, 0])),
        "invalid names": listing(("with blank", [0]), ("", [0]), ("a" * 250, [0])),
        "timeout 0": listing(("a-two", [0]), timeout_ms=0),
        "timeout -1": listing(all_topics=True, timeout_ms=-1),
        "timeout 0, no topics": listing(timeout_ms=0),
    }
    for case, request in cases.items():
        recorder.case(f"listed: {case}", 0, request)


def moving(*dirs: tuple[str, list[tuple[str, list[int]]]]) -> AlterReplicaLogDirsRequest:
    """Return an AlterReplicaLogDirs request; a directory is (path, topics), a topic (name, partitions)."""
    entries = [
        AlterReplicaLogDir(
            path=path, topics=[AlterReplicaLogDirTopic(name=name, partitions=indexes) for name, indexes in topics]
        )
        for path, topics in dirs
    ]
    return AlterReplicaLogDirsRequest(dirs=entries)


def own_log_dir(recorder: Recorder) -> str:
    """Return the path of the broker's log directory, and have the recorder write LOG_DIR for it."""
    response = recorder.call(DescribeLogDirsRequest(topics=None), 4, DescribeLogDirsResponse)
    path = response.results[0].log_dir
    recorder.normal_form.name_text(path, "LOG_DIR")
    return path


def _log_dirs(recorder: Recorder) -> None:
    own = own_log_dir(recorder)
    for version in (1, 2):
        recorder.case("to the own directory", version, moving((own, [("a-two", [0])])))
        recorder.case("two topics to the own directory", version, moving((own, [("b-one", [0]), ("a-two", [1, 0])])))
        for path in ("/not/there", "", "relative", "/", own + "/", own + "/.", own + "/a-two-0"):
            recorder.case(f"to {recorder.normal_form.of(path)}", version, moving((path, [("a-two", [0])])))


def _log_dir_errors(recorder: Recorder) -> None:
    own, other = own_log_dir(recorder), "/not/there"
    cases = {
        "no directories": moving(),
        "a directory without topics": moving((own, [])),
        "an unknown directory without topics": moving((other, [])),
        "a topic without partitions": moving((own, [("a-two", [])])),
        "unknown topic": moving((own, [("not-there", [0])])),
        "unknown topic, unknown directory": moving((other, [("not-there", [0])])),
        "unknown partition": moving((own, [("a-two", [2, -1])])),
        "unknown partition, unknown directory": moving((other, [("a-two", [2])])),
        "known and unknown ones": moving((own, [("a-two", [0, 5]), ("not-there", [0]), ("b-one", [0])])),
        "one partition to two directories": moving((other, [("a-two", [0])]), (own, [("a-two", [0])])),
        "one partition to two directories, the unknown one last": moving(
            (own, [("a-two", [0])]), (other, [("a-two", [0])])
        ),
        "two partitions to two directories": moving((other, [("a-two", [0])]), (own, [("a-two", [1])])),
        "two topics to two directories": moving((other, [("a-two", [0])]), (own, [("b-one", [0])])),
        "the own directory twice": moving((own, [("a-two", [0])]), (own, [("a-two", [1])])),
        "the same topic twice": moving((own, [("a-two", [0]), ("a-two", [1])])),
        "the same partition twice": moving((own, [("a-two", [0, 0])])),
    }
    for case, request in cases.items():
        recorder.case(f"moved: {case}", 2, request)
    # The folder of a replica that moves has at least 42 characters more than the topic's name.
    for name in ("with blank", "", "a" * 100, "a" * 213, "a" * 214, "a" * 250):
        recorder.case(f"moved: topic name of {len(name)}: {name[:20]!r}", 2, moving((own, [(name, [0])])))
    recorder.case("moved: a long name and an unknown directory", 2, moving((other, [("a" * 214, [0])])))
    recorder.case("moved: a long index", 2, moving((own, [("a" * 213, [10])])))
    recorder.create_topic("a" * 220, 1)
    recorder.case("moved: an existing topic with a long name", 2, moving((own, [("a" * 220, [0])])))


if __name__ == "__main__":
    main(capture)
