"""TxnOffsetCommit v6, with topic ids (KIP-1319), beside v5:
python -m tests.golden.capture_offsets_by_topic_id HOST:PORT.

Needs a fresh Kafka 4.4 with default configuration.
"""

from collections.abc import Callable
from functools import partial
from typing import Protocol

from fauxka.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from fauxka.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from fauxka.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from fauxka.protocol.messages.sync_group import SyncGroupRequest
from fauxka.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from fauxka.protocol.primitives import ZERO_UUID

from .capture_recorder import Recorder, main
from .group_client import protocols_of
from .transaction_story import NEW_END, Story

VERSIONS = (5, 6)
OFFSET_FETCH_VERSION = 9
UNKNOWN_ID = bytes(range(1, 17))
CLASSIC_GROUP, CONSUMER_GROUP = "classic", "modern"
MEMBER_ID = "AAAAAAAAAAAAAAAAAAAAAQ"

# Changes a request before it is sent.
Change = Callable[[TxnOffsetCommitRequest], object]


def unchanged(request: TxnOffsetCommitRequest) -> None:
    """Send the request as it is."""


class Commit(Protocol):
    """Records a case in each version."""

    def __call__(self, case: str, change: Change = unchanged) -> None: ...


def capture(recorder: Recorder) -> None:
    """Record every case."""
    story = Story(recorder, "ids")
    producer = (story.producer_id, 0)

    def commit(case: str, change: Change = unchanged) -> None:
        for version in VERSIONS:
            request = story.offset_commit(producer)
            request.topics[0].topic_id = recorder.topic_ids[story.topic]
            change(request)
            recorder.case(case, version, request)

    commit("before there is a coordinator")
    story.wait_for_group()
    _topics(commit)
    _members_of_no_group(commit)
    _member(recorder, commit, CLASSIC_GROUP, _join_classic_group(recorder))
    _member(recorder, commit, CONSUMER_GROUP, _join_consumer_group(recorder, story.topic))
    commit("another epoch", lambda request: setattr(request, "producer_epoch", 7))
    commit("another producer", lambda request: setattr(request, "producer_id", 987_654))
    commit("another transactional id", lambda request: setattr(request, "transactional_id", "another"))
    commit("no group id", lambda request: setattr(request, "group_id", ""))
    story.end("commit", producer, NEW_END)
    story.wait_for_completion()
    for group_id in ("group", CLASSIC_GROUP, CONSUMER_GROUP, "missing"):
        asked = OffsetFetchRequestGroup(group_id=group_id, topics=None)
        recorder.case(f"offsets of {group_id}", OFFSET_FETCH_VERSION, OffsetFetchRequest(groups=[asked]))


def _topics(commit: Commit) -> None:
    commit("a topic")
    for what, topic_id in (("an unknown topic", UNKNOWN_ID), ("no topic", ZERO_UUID)):
        commit(what, partial(_rename, topic_id=topic_id))
        commit(f"{what} and a known one", partial(_add_unknown, topic_id=topic_id))
    commit("an unknown partition", lambda request: setattr(request.topics[0].partitions[0], "partition_index", 9))
    commit("the same topic twice", lambda request: request.topics.append(request.topics[0]))
    commit("no topics", lambda request: request.topics.clear())
    commit("metadata that is too large", lambda request: _describe(request, "x" * 5000))
    commit("metadata", lambda request: _describe(request, "some"))


def _rename(request: TxnOffsetCommitRequest, topic_id: bytes) -> None:
    request.topics[0].name, request.topics[0].topic_id = "unknown", topic_id


def _add_unknown(request: TxnOffsetCommitRequest, topic_id: bytes) -> None:
    partitions = [TxnOffsetCommitRequestPartition(partition_index=index) for index in (1, 0)]
    unknown = TxnOffsetCommitRequestTopic(name="unknown", topic_id=topic_id, partitions=partitions)
    request.topics.insert(0, unknown)
    request.topics.append(unknown)


def _describe(request: TxnOffsetCommitRequest, metadata: str) -> None:
    request.topics[0].partitions[0].committed_metadata = metadata


def _members_of_no_group(commit: Commit) -> None:
    for group_id in ("missing", "group"):
        commit(f"generation and member, {group_id}", _by(group_id, 3, "someone"))
        commit(f"a member without a generation, {group_id}", _by(group_id, -1, "someone"))
        commit(f"a generation without a member, {group_id}", _by(group_id, 3, ""))


def _by(group_id: str, epoch: int, member_id: str) -> Change:
    def change(request: TxnOffsetCommitRequest) -> None:
        request.group_id, request.generation_id, request.member_id = group_id, epoch, member_id

    return change


def _member(recorder: Recorder, commit: Commit, group_id: str, member: tuple[str, int]) -> None:
    member_id, epoch = member
    recorder.normal_form.name_text(member_id, f"MEMBER of {group_id}")
    for what, sent in (("its epoch", epoch), ("an earlier epoch", epoch - 1), ("a later epoch", epoch + 1)):
        commit(f"{group_id}: {what}", _by(group_id, sent, member_id))
    commit(f"{group_id}: another member", _by(group_id, epoch, "someone"))
    commit(f"{group_id}: no member", _by(group_id, -1, ""))
    commit(f"{group_id}: a member without an epoch", _by(group_id, -1, member_id))


def _join_classic_group(recorder: Recorder) -> tuple[str, int]:
    """Return the id and the generation of the only member of a group."""
    request = JoinGroupRequest(
        group_id=CLASSIC_GROUP,
        session_timeout_ms=45_000,
        rebalance_timeout_ms=45_000,
        protocol_type="consumer",
        protocols=protocols_of("range"),
    )
    request.member_id = recorder.call(request, 9, JoinGroupResponse).member_id
    joined = recorder.call(request, 9, JoinGroupResponse)
    synced = SyncGroupRequest(
        group_id=CLASSIC_GROUP,
        generation_id=joined.generation_id,
        member_id=joined.member_id,
        protocol_type="consumer",
        protocol_name="range",
    )
    recorder.call(synced, 5)
    return joined.member_id, joined.generation_id


def _join_consumer_group(recorder: Recorder, topic: str) -> tuple[str, int]:
    """Return the id and the epoch of the only member of a group, which has all partitions."""
    request = ConsumerGroupHeartbeatRequest(
        group_id=CONSUMER_GROUP,
        member_id=MEMBER_ID,
        rebalance_timeout_ms=45_000,
        subscribed_topic_names=[topic],
        topic_partitions=[],
    )

    def beat() -> ConsumerGroupHeartbeatResponse:
        return recorder.call(request, 1, ConsumerGroupHeartbeatResponse)

    request.member_epoch = beat().member_epoch
    recorder.wait(lambda: beat().assignment is not None, "the assignment")
    request.topic_partitions = [TopicPartitions(topic_id=recorder.topic_ids[topic], partitions=[0, 1, 2])]
    return MEMBER_ID, beat().member_epoch


if __name__ == "__main__":
    main(capture)
