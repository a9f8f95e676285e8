"""The details of requests in the journal, from messages as a broker records them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from struct import pack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.faults.journal.details.models import (
    PARTS_MAX,
    AcknowledgedRange,
    AcquiredRange,
    GroupMember,
    MemberTasks,
    RequestDetails,
    TopicPartitions,
)
from fauxka.faults.journal.journal import Journal
from fauxka.faults.journal.journal_entries import JournalEntry, read_entries
from fauxka.faults.journal.journal_record import PENDING, RESPONDED
from fauxka.protocol.api_keys import APIS, ApiKey
from fauxka.protocol.codec_messages import Response
from fauxka.protocol.errors.response_frames import encode_response_frame
from fauxka.protocol.fetch_codec import FetchedPartition, FetchPartition, FetchRequest, FetchResults
from fauxka.protocol.message import Message
from fauxka.protocol.messages import (
    consumer_group_heartbeat,
    join_group,
    leave_group,
    share_fetch,
    streams_group_heartbeat,
    sync_group,
)
from fauxka.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment, TopicPartition
from fauxka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from fauxka.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from fauxka.protocol.primitives import Writer

from ..run_counts import examples
from .journal_scene import FakeRequest

TOPIC_ID = bytes(range(16))
NAMES = {TOPIC_ID: "orders"}
MS = 1_000_000


@dataclass
class Recorded:
    """A journal, and a request that it is to record."""

    journal: Journal
    context: FakeRequest

    @property
    def entry(self) -> JournalEntry:
        return read_entries(self.journal)[-1]


def finished(kept: object) -> object:
    """Return what is kept of a response, after its steps."""
    if not hasattr(kept, "send"):
        return kept
    try:
        while True:
            next(kept)  # type: ignore[call-overload]
    except StopIteration as end:
        return end.value


def recorded(
    key: ApiKey, version: int, request: Message | FetchRequest, response: Response, *, is_kept: bool = True
) -> Recorded:
    """Record a request and its response. is_kept: whether the body is kept, as that of a small request."""
    body = b""
    encoded: list[bytearray] = []
    if isinstance(request, Message) and isinstance(response, Message):
        writer = Writer()
        request.write(writer, version)
        body = writer.getvalue()
        encoded = [encode_response_frame(APIS[key], version, 1, response)]
    journal = Journal(topic_name_of=NAMES.get)
    context = FakeRequest(api_key=key, api_version=version, kept_body=body if is_kept and body else None)
    context.kept_response = finished(journal.keep_response(context, request, response, encoded))
    journal.handled(context, 100, RESPONDED)
    return Recorded(journal, context)


def fetch_of(*partitions: FetchedPartition, **fields: int) -> JournalEntry:
    request = FetchRequest(0, 0, 10**6, fields.get("isolation_level", 0), 7, 3, {}, [])
    results = FetchResults([(b"orders", each) for each in partitions], 0, 7)
    return recorded(ApiKey.FETCH, 11, request, results).entry


def records_at(base_offset: int) -> list[memoryview]:
    return [memoryview(pack(">q", base_offset) + bytes(60))]


def test_fetch_has_the_range_and_the_offsets_of_each_partition() -> None:
    read = FetchedPartition(1, 0, 20, 18, 2, records=records_at(9), records_bytes=68, fetch_offset=10, last_offset=14)
    failed = FetchedPartition(2, 1, fetch_offset=99)

    entry = fetch_of(read, failed, isolation_level=1)

    fetch = entry.fetch
    assert fetch is not None
    assert (fetch.isolation, fetch.session_id, fetch.session_epoch, fetch.new_session_id) == (
        "read_committed",
        7,
        3,
        None,
    )
    first, second = fetch.partitions
    assert (first.topic, first.partition, first.fetch_offset) == ("orders", 1, 10)
    assert (first.first_offset, first.last_offset, first.error) == (9, 14, None)
    assert (first.high_watermark, first.last_stable_offset, first.log_start_offset) == (20, 18, 2)
    assert (second.fetch_offset, second.first_offset, second.last_offset) == (99, None, None)
    assert second.error == entry.error == "OFFSET_OUT_OF_RANGE"


def test_fetch_keeps_100_partitions_those_with_records_and_errors_first() -> None:
    partitions = [FetchedPartition(index, high_watermark=5) for index in range(300)]
    partitions[250].records, partitions[280].error_code = records_at(3), 6

    entry = fetch_of(*partitions)

    assert entry.fetch is not None
    assert [each.partition for each in entry.fetch.partitions] == [250, 280, *range(PARTS_MAX - 2)]
    assert entry.fetch.partitions_left_out == 200


def test_errors_of_partitions_that_are_left_out_are_counted_and_found() -> None:
    partitions = [FetchedPartition(index, 6) for index in range(149)]

    entry = fetch_of(*partitions, FetchedPartition(149, 74))

    assert (entry.error, entry.more_errors) == ("NOT_LEADER_OR_FOLLOWER", 149)


def test_journal_refers_to_no_record_of_a_fetch() -> None:
    data = bytearray(pack(">q", 9) + bytes(60))
    read = FetchedPartition(0, records=[memoryview(data)], records_bytes=68, last_offset=9)
    request = FetchRequest(0, 0, 10**6, 0, 0, -1, {(b"orders", 0): FetchPartition(0, -1, 9, -1, 1)}, [])

    kept = recorded(ApiKey.FETCH, 11, request, FetchResults([(b"orders", read)]))
    read.records.clear()

    # A buffer to which a view refers cannot be resized.
    data.clear()
    assert kept.entry.fetch is not None


def commit(partitions: Sequence[tuple[int, int, int]]) -> tuple[OffsetCommitRequest, OffsetCommitResponse]:
    """Return a commit of (partition, offset, error code)."""
    request = OffsetCommitRequest(
        group_id="billing",
        generation_id_or_member_epoch=4,
        member_id="m-1",
        topics=[
            OffsetCommitRequestTopic(
                name="orders",
                partitions=[
                    OffsetCommitRequestPartition(partition_index=index, committed_offset=offset, committed_metadata="")
                    for index, offset, _ in partitions
                ],
            )
        ],
    )
    results = [OffsetCommitResponsePartition(partition_index=index, error_code=code) for index, _, code in partitions]
    topics = [OffsetCommitResponseTopic(name="orders", partitions=results)] if results else []
    return request, OffsetCommitResponse(topics=topics)


PARTITIONS = st.lists(
    st.tuples(st.integers(0, 10_000), st.integers(0, 2**40), st.sampled_from([0, 0, 22, 25])),
    unique_by=lambda each: each[0],
    max_size=300,
)


@given(partitions=PARTITIONS, is_kept=st.booleans())
@settings(max_examples=examples(100))
def test_commit_has_its_offsets_whether_its_bytes_are_kept_or_reduced_at_once(
    partitions: list[tuple[int, int, int]], is_kept: bool
) -> None:
    names = {0: None, 22: "ILLEGAL_GENERATION", 25: "UNKNOWN_MEMBER_ID"}

    entry = recorded(ApiKey.OFFSET_COMMIT, 8, *commit(partitions), is_kept=is_kept).entry

    offsets = entry.offsets
    assert offsets is not None
    assert (offsets.group_id, offsets.member_id, offsets.epoch) == ("billing", "m-1", 4)
    assert [(each.partition, each.offset, each.error) for each in offsets.offsets] == [
        (index, offset, names[code]) for index, offset, code in partitions[:PARTS_MAX]
    ]
    assert offsets.offsets_left_out == max(0, len(partitions) - PARTS_MAX)
    errors = [(index, code) for index, _, code in partitions if code]
    assert entry.more_errors == max(0, len(errors) - 1)
    first = entry.first_error
    assert (None if first is None else (first.partition, first.error)) == (
        (errors[0][0], names[errors[0][1]]) if errors else None
    )


def test_offset_fetch_of_several_groups_has_the_group_of_each_offset() -> None:
    groups = ["billing", "audit"]
    request = OffsetFetchRequest(
        groups=[
            OffsetFetchRequestGroup(
                group_id=group, topics=[OffsetFetchRequestTopics(name="orders", partition_indexes=[0])]
            )
            for group in groups
        ]
    )
    answered = [
        OffsetFetchResponseGroup(
            group_id=group,
            topics=[
                OffsetFetchResponseTopics(
                    name="orders",
                    partitions=[OffsetFetchResponsePartitions(partition_index=0, committed_offset=len(group))],
                )
            ],
        )
        for group in groups
    ]

    entry = recorded(ApiKey.OFFSET_FETCH, 9, request, OffsetFetchResponse(groups=answered)).entry

    assert entry.offsets is not None
    assert [(each.group_id, each.offset) for each in entry.offsets.offsets] == [("billing", 7), ("audit", 5)]


def embedded(*partitions: int) -> bytes:
    writer = Writer()
    writer.int16(1)
    topics = [TopicPartition(topic="orders", partitions=list(partitions))]
    ConsumerProtocolAssignment(assigned_partitions=topics).write(writer, 1)
    return writer.getvalue()


def sync(protocol_type: str | None, assignment: bytes) -> JournalEntry:
    request = sync_group.SyncGroupRequest(
        group_id="billing",
        generation_id=3,
        member_id="m-1",
        protocol_type=protocol_type,
        protocol_name="range",
        assignments=[sync_group.SyncGroupRequestAssignment(member_id="m-2", assignment=embedded(1))],
    )
    response = sync_group.SyncGroupResponse(protocol_type=protocol_type, protocol_name="range", assignment=assignment)
    return recorded(ApiKey.SYNC_GROUP, 5, request, response).entry


def test_classic_assignments_are_decoded_for_the_consumer_protocol() -> None:
    member = sync("consumer", embedded(0, 2)).member

    assert member is not None
    assert (member.group_id, member.member_id, member.epoch, member.protocol) == ("billing", "m-1", 3, "range")
    assert member.assignment == [TopicPartitions(topic="orders", partitions=[0, 2])]
    assert member.members == [
        GroupMember(member_id="m-2", assignment=[TopicPartitions(topic="orders", partitions=[1])])
    ]


@pytest.mark.parametrize(("protocol_type", "assignment"), [("connect", embedded(0)), ("consumer", b"\xff\xff\0")])
def test_other_assignments_are_none(protocol_type: str, assignment: bytes) -> None:
    member = sync(protocol_type, assignment).member

    assert member is not None
    assert member.assignment is None


def test_join_of_the_leader_has_the_members() -> None:
    response = join_group.JoinGroupResponse(
        generation_id=5,
        protocol_type="consumer",
        protocol_name="range",
        leader="m-1",
        member_id="m-1",
        members=[join_group.JoinGroupResponseMember(member_id=each) for each in ("m-1", "m-2")],
    )
    entry = recorded(ApiKey.JOIN_GROUP, 7, join_group.JoinGroupRequest(group_id="billing"), response).entry

    member = entry.member
    assert member is not None
    assert (member.member_id, member.leader_id, member.epoch, member.new_epoch) == ("m-1", "m-1", None, 5)
    assert [each.member_id for each in member.members] == ["m-1", "m-2"]


def test_leave_has_the_members_with_their_errors() -> None:
    request = leave_group.LeaveGroupRequest(
        group_id="billing", members=[leave_group.MemberIdentity(member_id=each) for each in ("a", "b")]
    )
    results = [leave_group.MemberResponse(member_id="a"), leave_group.MemberResponse(member_id="b", error_code=25)]
    entry = recorded(ApiKey.LEAVE_GROUP, 5, request, leave_group.LeaveGroupResponse(members=results)).entry

    assert entry.member is not None
    assert entry.member.members == [GroupMember(member_id="a"), GroupMember(member_id="b", error="UNKNOWN_MEMBER_ID")]
    assert entry.first_error is not None
    assert (entry.first_error.member_id, entry.first_error.group_id) == ("b", "billing")


def test_heartbeat_has_epochs_and_partitions_by_topic_id() -> None:
    owned = [consumer_group_heartbeat.TopicPartitions(topic_id=TOPIC_ID, partitions=[0])]
    assigned = [consumer_group_heartbeat.TopicPartitions(topic_id=TOPIC_ID, partitions=[0, 1])]
    request = consumer_group_heartbeat.ConsumerGroupHeartbeatRequest(
        group_id="billing", member_id="m-1", member_epoch=4, instance_id="static-1", topic_partitions=owned
    )
    assignment = consumer_group_heartbeat.Assignment(topic_partitions=assigned)
    response = consumer_group_heartbeat.ConsumerGroupHeartbeatResponse(
        member_id="m-1", member_epoch=5, assignment=assignment
    )

    member = recorded(ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, request, response).entry.member

    assert member is not None
    assert (member.epoch, member.new_epoch, member.group_instance_id) == (4, 5, "static-1")
    assert member.owned == [TopicPartitions(topic="orders", partitions=[0])]
    assert member.assignment == [TopicPartitions(topic="orders", partitions=[0, 1])]


def test_heartbeat_of_a_streams_group_has_tasks_and_what_keeps_the_application_from_running() -> None:
    def tasks(*partitions: int) -> list[streams_group_heartbeat.TaskIds]:
        return [streams_group_heartbeat.TaskIds(subtopology_id="0", partitions=list(partitions))]

    request = streams_group_heartbeat.StreamsGroupHeartbeatRequest(
        group_id="counters", member_id="m-1", member_epoch=4, active_tasks=tasks(0), standby_tasks=[], warmup_tasks=[]
    )
    response = streams_group_heartbeat.StreamsGroupHeartbeatResponse(
        member_id="m-1",
        member_epoch=5,
        status=[streams_group_heartbeat.Status(status_code=5, status_detail="Assignment delayed.")],
        active_tasks=tasks(0, 1),
        standby_tasks=tasks(2),
        warmup_tasks=[],
    )

    member = recorded(ApiKey.STREAMS_GROUP_HEARTBEAT, 1, request, response).entry.member

    assert member is not None
    assert (member.epoch, member.new_epoch) == (4, 5)
    assert member.owned_tasks == MemberTasks(active={"0": [0]})
    assert member.tasks == MemberTasks(active={"0": [0, 1]}, standby={"0": [2]})
    assert member.statuses == ["ASSIGNMENT_DELAYED: Assignment delayed."]


def share(records: bytes) -> JournalEntry:
    """Return a ShareFetch that acknowledges one range and acquires another."""
    acknowledged = share_fetch.AcknowledgementBatch(first_offset=0, last_offset=1, acknowledge_types=[1, 3])
    asked = share_fetch.FetchPartition(partition_index=0, acknowledgement_batches=[acknowledged])
    request = share_fetch.ShareFetchRequest(
        group_id="workers",
        member_id="m-1",
        share_session_epoch=2,
        topics=[share_fetch.FetchTopic(topic_id=TOPIC_ID, partitions=[asked])],
    )
    answered = share_fetch.PartitionData(
        partition_index=0,
        acknowledge_error_code=121,
        records=records,
        acquired_records=[share_fetch.AcquiredRecords(first_offset=2, last_offset=4, delivery_count=2)],
    )
    topics = [share_fetch.ShareFetchableTopicResponse(topic_id=TOPIC_ID, partitions=[answered])]
    return recorded(ApiKey.SHARE_FETCH, 1, request, share_fetch.ShareFetchResponse(responses=topics)).entry


@pytest.mark.parametrize("records_bytes", [10, 10_000])
def test_share_fetch_has_what_it_acknowledges_and_acquires(records_bytes: int) -> None:
    entry = share(bytes(records_bytes))

    assert entry.share is not None
    assert (entry.share.group_id, entry.share.member_id, entry.share.session_epoch) == ("workers", "m-1", 2)
    (partition,) = entry.share.partitions
    assert (partition.topic, partition.partition) == ("orders", 0)
    assert partition.acknowledged == [AcknowledgedRange(first_offset=0, last_offset=1, types=["accept", "reject"])]
    assert partition.acquired == [AcquiredRange(first_offset=2, last_offset=4, delivery_count=2)]
    assert partition.acknowledge_error == entry.error == "INVALID_RECORD_STATE"


def test_large_response_is_kept_as_its_details() -> None:
    kept = recorded(ApiKey.OFFSET_COMMIT, 8, *commit([(index, 1, 0) for index in range(2000)])).context.kept_response

    assert isinstance(kept, RequestDetails)


def test_responses_count_for_the_bytes_of_the_journal() -> None:
    journal = Journal(1000, bytes_max=10_000)
    for _ in range(20):
        context = FakeRequest(api_key=ApiKey.HEARTBEAT, kept_body=b"", kept_response=bytes(2000))
        journal.handled(context, 100, RESPONDED)

    assert journal.kept == 5


def test_pending_responses_count_for_the_bytes_of_the_journal() -> None:
    journal = Journal(1000, bytes_max=10_000)
    context = FakeRequest(api_key=ApiKey.HEARTBEAT, kept_body=b"")
    ids = [journal.handled(context, 100, PENDING) for _ in range(20)]

    # The newest first. Then the oldest request leaves for each further response, whichever that is of.
    for request_id in reversed(ids):
        journal.responded(request_id, bytes(2000))

    assert [request_id for request_id, _ in journal.records()] == ids[15:]


def test_time_lasts_until_the_response_is_written() -> None:
    journal = Journal()
    context = FakeRequest(api_key=ApiKey.FETCH, arrived_ns=5 * MS, took_ns=99)
    request_id = journal.handled(context, 100, PENDING)
    journal.held(request_id, 2 * MS)
    waiting = read_entries(journal)[-1]

    journal.answered(request_id, 12 * MS)

    written = read_entries(journal)[-1]
    assert (waiting.took_ms, waiting.injected_ms) == (None, 2.0)
    assert (written.took_ms, written.injected_ms) == (7.0, 2.0)
