"""OffsetCommit, OffsetFetch and OffsetDelete."""

from fauxka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fauxka.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from fauxka.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from fauxka.protocol.primitives import ZERO_UUID

from ..group_client import GroupClient, protocols_of, stable_pair, subscription
from ..group_recorder import GroupRecorder

TOPIC = "group-topic"
PARTITION_COUNT = 3
COMMIT_VERSIONS = range(2, 11)
FETCH_VERSIONS = range(1, 11)
TOPIC_IDS_SINCE = 10
UNKNOWN_ID = bytes(range(16))
METADATA_MAX = 4096

Asked = list[tuple[str, list[int]]]


def commit_of(
    group_id: str,
    partition: int = 0,
    offset: int = 7,
    *,
    topic: str = TOPIC,
    topic_id: bytes = ZERO_UUID,
    metadata: str | None = "m",
    leader_epoch: int = -1,
    generation_id: int = -1,
    member_id: str = "",
) -> OffsetCommitRequest:
    """Return a commit of one offset."""
    entry = OffsetCommitRequestPartition(
        partition_index=partition,
        committed_offset=offset,
        committed_leader_epoch=leader_epoch,
        committed_metadata=metadata,
    )
    return OffsetCommitRequest(
        group_id=group_id,
        generation_id_or_member_epoch=generation_id,
        member_id=member_id,
        topics=[OffsetCommitRequestTopic(name=topic, topic_id=topic_id, partitions=[entry])],
    )


def fetch_of(
    recorder: GroupRecorder, *group_ids: str, asked: Asked | None = None, stable: bool = False
) -> OffsetFetchRequest:
    """Return a request for the groups' offsets in the form of every version; asked None is for all topics."""
    groups = [
        OffsetFetchRequestGroup(
            group_id=group_id,
            topics=None
            if asked is None
            else [
                OffsetFetchRequestTopics(
                    name=topic, topic_id=recorder.topic_ids.get(topic, UNKNOWN_ID), partition_indexes=partitions
                )
                for topic, partitions in asked
            ],
        )
        for group_id in group_ids
    ]
    single = None if asked is None else [OffsetFetchRequestTopic(name=name, partition_indexes=p) for name, p in asked]
    return OffsetFetchRequest(groups=groups, group_id=group_ids[0], topics=single, require_stable=stable)


def simple_commits(recorder: GroupRecorder) -> None:
    """Commits without membership, in every version."""
    topic_id = recorder.topic_ids[TOPIC]
    for version in COMMIT_VERSIONS:
        group_id = f"simple-{version}"
        recorder.case("to a new group", version, commit_of(group_id, topic_id=topic_id, leader_epoch=3))
        recorder.case("again", version, commit_of(group_id, offset=9, metadata=None, topic_id=topic_id))
        recorder.case("of another partition", version, commit_of(group_id, 2, -1, metadata="", topic_id=topic_id))
        recorder.case("to a group without an id", version, commit_of("", topic_id=topic_id))
        recorder.case("to an unknown topic", version, commit_of(group_id, topic="no-such-topic", topic_id=UNKNOWN_ID))
        recorder.case("to no topic", version, commit_of(group_id, topic=""))
        recorder.case("to an unknown partition", version, commit_of(group_id, 3, topic_id=topic_id))
        recorder.case("to a negative partition", version, commit_of(group_id, -1, topic_id=topic_id))
        recorder.case(
            "with a generation to a new group", version, commit_of("nothing", generation_id=1, topic_id=topic_id)
        )
        recorder.case(
            "with a generation and an unknown topic",
            version,
            commit_of("nothing", topic="no-such-topic", topic_id=UNKNOWN_ID, generation_id=1),
        )
        recorder.case(
            "with a generation and a member",
            version,
            commit_of(group_id, generation_id=1, member_id="nobody", topic_id=topic_id),
        )
        recorder.case(
            "with generation -1 and a member", version, commit_of(group_id, member_id="nobody", topic_id=topic_id)
        )
        recorder.case("is all there", max(version, 2), fetch_of(recorder, group_id))


def large_metadata(recorder: GroupRecorder) -> None:
    """offset.metadata.max.bytes counts characters, and is judged for each partition."""
    sizes = [METADATA_MAX, METADATA_MAX + 1]
    entries = [
        OffsetCommitRequestPartition(partition_index=index, committed_offset=1, committed_metadata="x" * size)
        for index, size in enumerate(sizes)
    ]
    entries.append(
        OffsetCommitRequestPartition(partition_index=2, committed_offset=1, committed_metadata="é" * METADATA_MAX)
    )
    topics = [
        OffsetCommitRequestTopic(name="no-such-topic", partitions=[OffsetCommitRequestPartition()]),
        OffsetCommitRequestTopic(name=TOPIC, partitions=entries),
        OffsetCommitRequestTopic(
            name=TOPIC, partitions=[OffsetCommitRequestPartition(partition_index=5, committed_offset=1)]
        ),
    ]
    recorder.case("some are too large", 8, OffsetCommitRequest(group_id="metadata", topics=topics))
    recorder.case("some were stored", 8, fetch_of(recorder, "metadata", asked=[(TOPIC, [1])]))
    astral = OffsetCommitRequestPartition(committed_offset=1, committed_metadata="\U0001f600" * 2049)
    topic = OffsetCommitRequestTopic(name=TOPIC, partitions=[astral])
    recorder.case("characters of two UTF-16 units", 8, OffsetCommitRequest(group_id="metadata", topics=[topic]))
    recorder.case("no topics", 8, OffsetCommitRequest(group_id="metadata-none", topics=[]))


def member_commits(recorder: GroupRecorder) -> None:
    """Commits of members, and of others to a group that has members."""
    a, b = stable_pair(recorder, "committing")
    for version in COMMIT_VERSIONS:
        topic_id = recorder.topic_ids[TOPIC]

        def commit(case: str, generation_id: int, member_id: str, at: int = version, to: bytes = topic_id) -> None:
            request = commit_of("committing", generation_id=generation_id, member_id=member_id, topic_id=to)
            recorder.case(case, at, request)

        commit("a member commits", 2, a.member_id)
        commit("a member commits in an older generation", 1, a.member_id)
        commit("a member commits in a generation to come", 3, a.member_id)
        commit("a member commits without a generation", -1, a.member_id)
        commit("an unknown member commits", 2, "nobody")
        commit("nobody commits in a generation", 2, "")
        commit("nobody commits without a generation", -1, "")
    b.start_join(protocols=protocols_of("range", metadata=subscription("other")))
    recorder.expect("committing", "PreparingRebalance", 2)
    recorder.case("while members rejoin", 9, commit_of("committing", generation_id=2, member_id=a.member_id))
    a.join("rejoins")
    b.finish_join("has rejoined")
    recorder.case("before the assignment", 9, commit_of("committing", generation_id=3, member_id=a.member_id))
    recorder.case(
        "of an older generation before the assignment",
        9,
        commit_of("committing", generation_id=2, member_id=a.member_id),
    )


def fetches(recorder: GroupRecorder) -> None:
    """OffsetFetch in every version."""
    recorder.case("a commit", 9, commit_of("fetching", 0, 11, metadata="left", leader_epoch=2))
    recorder.case("another commit", 9, commit_of("fetching", 2, 13))
    recorder.case("a commit for the other topic", 9, commit_of("fetching", 0, 5, topic="group-other"))
    recorder.case("a commit to the other group", 9, commit_of("fetching-2", 1, 17))
    asked: Asked = [(TOPIC, [0, 1, 2, 9]), ("no-such-topic", [0])]
    for version in FETCH_VERSIONS:
        recorder.case("some partitions", version, fetch_of(recorder, "fetching", asked=asked))
        recorder.case("no partitions", version, fetch_of(recorder, "fetching", asked=[(TOPIC, [])]))
        recorder.case("no topics", version, fetch_of(recorder, "fetching", asked=[]))
        recorder.case("a group that there is not", version, fetch_of(recorder, "nothing", asked=asked))
        recorder.case("a group without an id", version, fetch_of(recorder, "", asked=asked))
        if version >= 2:
            recorder.case("all topics", version, fetch_of(recorder, "fetching"))
            recorder.case("all topics of a group that there is not", version, fetch_of(recorder, "nothing"))
        if version >= 7:
            recorder.case("stable ones", version, fetch_of(recorder, "fetching", asked=asked, stable=True))
            recorder.case("all stable ones", version, fetch_of(recorder, "fetching", stable=True))
        if version >= 8:
            recorder.case("two groups", version, fetch_of(recorder, "fetching", "fetching-2", asked=asked))
            recorder.case("all of three groups", version, fetch_of(recorder, "fetching-2", "nothing", "fetching"))
            recorder.case("no groups", version, OffsetFetchRequest(groups=[]))
            recorder.case("a group twice", version, fetch_of(recorder, "fetching-2", "fetching-2"))
    request = fetch_of(recorder, "fetching", asked=[(TOPIC, [0])])
    request.groups[0].member_id, request.groups[0].member_epoch = "nobody", 5
    recorder.case("with a member of a group that has none", 9, request)


def deletes(recorder: GroupRecorder) -> None:
    """OffsetDelete."""
    recorder.case("a commit", 9, commit_of("deleting", 0))
    recorder.case("another commit", 9, commit_of("deleting", 1))
    recorder.case("one offset", 0, delete_of("deleting", (TOPIC, [0])))
    recorder.case("is left", 7, fetch_of(recorder, "deleting"))
    recorder.case("of an offset that there is not", 0, delete_of("deleting", (TOPIC, [2])))
    recorder.case("of an unknown partition", 0, delete_of("deleting", (TOPIC, [1, 3])))
    recorder.case("of an unknown topic", 0, delete_of("deleting", ("no-such-topic", [0]), (TOPIC, [0])))
    recorder.case("of an unknown topic only", 0, delete_of("deleting", ("no-such-topic", [0])))
    recorder.case("of no topic", 0, delete_of("deleting"))
    recorder.case("of a group without an id", 0, delete_of("", (TOPIC, [0])))
    recorder.case("of a group that there is not", 0, delete_of("nothing", (TOPIC, [0])))
    recorder.case(
        "of a group that there is not and an unknown topic",
        0,
        delete_of("nothing", ("no-such-topic", [0]), (TOPIC, [0])),
    )
    recorder.case("last offset", 0, delete_of("deleting", (TOPIC, [1])))
    recorder.case("all topics of a group without offsets", 7, fetch_of(recorder, "deleting"))
    _delete_from_members(recorder)


def _delete_from_members(recorder: GroupRecorder) -> None:
    consumer = GroupClient(
        recorder, "deleting-consumer", "a", protocols=protocols_of("range", metadata=subscription(TOPIC))
    )
    consumer.join_alone()
    recorder.case("before the assignment", 0, delete_of("deleting-consumer", ("group-other", [0])))
    consumer.assign("assigns", consumer)
    recorder.case("of a topic that members consume", 0, delete_of("deleting-consumer", (TOPIC, [0])))
    recorder.case("of one that they do not", 0, delete_of("deleting-consumer", ("group-other", [0]), (TOPIC, [0])))
    odd = GroupClient(recorder, "deleting-odd", "a", protocols=protocols_of("range", metadata=b"x"))
    odd.join_alone()
    odd.assign("assigns", odd)
    recorder.case("where subscriptions cannot be read", 0, delete_of("deleting-odd", ("group-other", [0])))
    worker = GroupClient(recorder, "deleting-worker", "a", protocol_type="connect")
    worker.join_alone()
    worker.assign("assigns", worker)
    recorder.case("from members that are not consumers", 0, delete_of("deleting-worker", (TOPIC, [0])))
    worker.leave("leaves")
    recorder.case("after they have left", 0, delete_of("deleting-worker", (TOPIC, [0])))


def delete_of(group_id: str, *topics: tuple[str, list[int]]) -> OffsetDeleteRequest:
    """Return a request to forget the offsets of some partitions."""
    return OffsetDeleteRequest(
        group_id=group_id,
        topics=[
            OffsetDeleteRequestTopic(
                name=name, partitions=[OffsetDeleteRequestPartition(partition_index=index) for index in partitions]
            )
            for name, partitions in topics
        ],
    )
