"""Offsets of groups of the consumer protocol: who may commit, fetch and delete them."""

from fauxka.protocol.messages.delete_groups import DeleteGroupsRequest
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
    OffsetFetchRequestTopics,
)

from ..consumer_group_client import ConsumerMember, pair
from ..consumer_group_recorder import ConsumerGroupRecorder
from .heartbeats import SECOND, TOPIC

COMMIT_VERSIONS = (5, 7, 8, 9, 10)
FETCH_VERSIONS = (8, 9, 10)


def commit(
    recorder: ConsumerGroupRecorder, case: str, version: int, member_id: str, epoch: int, *partitions: int
) -> None:
    """Record a commit of offset 5 for each partition of TOPIC."""
    entries = [OffsetCommitRequestPartition(partition_index=index, committed_offset=5) for index in partitions]
    topic = OffsetCommitRequestTopic(name=TOPIC, topic_id=recorder.topic_ids[TOPIC], partitions=entries)
    request = OffsetCommitRequest(
        group_id="offsets", member_id=member_id, generation_id_or_member_epoch=epoch, topics=[topic]
    )
    recorder.case(case, version, request)


def fetch(recorder: ConsumerGroupRecorder, case: str, version: int, member_id: str | None, epoch: int) -> None:
    """Record a fetch of the offsets of partitions 0 and 5 of TOPIC."""
    topic = OffsetFetchRequestTopics(name=TOPIC, topic_id=recorder.topic_ids[TOPIC], partition_indexes=[0, 5])
    group = OffsetFetchRequestGroup(group_id="offsets", member_id=member_id, member_epoch=epoch, topics=[topic])
    recorder.case(case, version, OffsetFetchRequest(groups=[group]))


def offsets(recorder: ConsumerGroupRecorder) -> None:
    """Commits, fetches and deletes in each version, by members in every epoch."""
    a, b = pair(recorder, "offsets", TOPIC)
    first, last = a.owned[0].partitions[0], b.owned[0].partitions[0]
    for version in COMMIT_VERSIONS:
        commit(recorder, "a commits", version, "a", a.member_epoch, 0, 5)
        commit(recorder, "a commits in the epoch before", version, "a", a.member_epoch - 1, first, last)
        commit(recorder, "a commits in its first epoch", version, "a", 1, first)
        commit(recorder, "b commits in the epoch before", version, "b", b.member_epoch - 1, last)
        commit(recorder, "a commits in an epoch to come", version, "a", a.member_epoch + 1, first)
        commit(recorder, "nobody commits", version, "nobody", a.member_epoch, first)
        commit(recorder, "someone commits without a group", version, "", -1, first)
        commit(recorder, "a commits without an epoch", version, "a", -1, first)
    for version in FETCH_VERSIONS:
        fetch(recorder, "a fetches", version, "a", a.member_epoch)
        fetch(recorder, "a fetches in the epoch before", version, "a", a.member_epoch - 1)
        fetch(recorder, "a fetches in an epoch to come", version, "a", a.member_epoch + 1)
        fetch(recorder, "nobody fetches", version, "nobody", a.member_epoch)
        fetch(recorder, "someone fetches without a member id", version, None, a.member_epoch)
        fetch(recorder, "someone fetches", version, None, -1)
        fetch(recorder, "a fetches without an epoch", version, "a", -1)
    topics = [
        OffsetDeleteRequestTopic(name=name, partitions=[OffsetDeleteRequestPartition(partition_index=0)])
        for name in (TOPIC, SECOND)
    ]
    recorder.case("offsets are deleted", 0, OffsetDeleteRequest(group_id="offsets", topics=topics))
    recorder.case("the group is deleted", 2, DeleteGroupsRequest(groups_names=["offsets"]))
    a.leave()
    b.leave()
    commit(recorder, "someone commits to the empty group", 9, "", -1, first)
    commit(recorder, "a commits to the empty group", 9, "a", a.member_epoch, first)
    fetch(recorder, "a fetches from the empty group", 9, "a", a.member_epoch)
    recorder.case("offsets of the empty group are deleted", 0, OffsetDeleteRequest(group_id="offsets", topics=topics))
    recorder.case("the empty group is deleted", 2, DeleteGroupsRequest(groups_names=["offsets"]))
    recorder.describe_case("is no more", "offsets")
    recorder.kept("kept", "offsets")


def simple(recorder: ConsumerGroupRecorder) -> None:
    """A group that has offsets only becomes one of the consumer protocol with its first member."""
    entry = OffsetCommitRequestPartition(partition_index=0, committed_offset=3)
    topic = OffsetCommitRequestTopic(name=TOPIC, partitions=[entry])
    recorder.case("someone commits", 9, OffsetCommitRequest(group_id="simple", topics=[topic]))
    a = ConsumerMember(recorder, "simple", "a", TOPIC)
    a.join()
    wanted = OffsetFetchRequestTopics(name=TOPIC, partition_indexes=[0])
    group = OffsetFetchRequestGroup(group_id="simple", member_id="a", member_epoch=a.member_epoch, topics=[wanted])
    recorder.case("a fetches", 9, OffsetFetchRequest(groups=[group]))
    a.leave()
    recorder.kept("kept", "simple")
