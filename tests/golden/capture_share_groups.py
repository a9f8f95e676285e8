"""What a broker answers to share groups (KIP-932): python -m tests.golden.capture_share_groups HOST:PORT.

Needs a fresh broker with CONFIG. Each story has a group and a topic of its own; the case's name says the step.
"""

import time
from collections.abc import Callable, Sequence

from fauxka.protocol.kafka_uuid import uuid_text
from fauxka.protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from fauxka.protocol.messages.delete_groups import DeleteGroupsRequest
from fauxka.protocol.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
)
from fauxka.protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
)
from fauxka.protocol.messages.find_coordinator import FindCoordinatorRequest
from fauxka.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fauxka.protocol.messages.list_groups import ListGroupsRequest
from fauxka.protocol.messages.share_acknowledge import AcknowledgementBatch as SentAcknowledgement
from fauxka.protocol.messages.share_acknowledge import (
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from fauxka.protocol.messages.share_fetch import (
    AcknowledgementBatch,
    FetchPartition,
    FetchTopic,
    ForgottenTopic,
    ShareFetchRequest,
    ShareFetchResponse,
)
from fauxka.protocol.messages.share_group_describe import ShareGroupDescribeRequest
from fauxka.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse

from .capture_batches import FIRST_TIMESTAMP, batch
from .capture_recorder import POLL_SECONDS, SETTLE_SECONDS_MAX, Recorder, main

CONFIG = {
    "group.share.min.record.lock.duration.ms": "1000",
    "group.share.record.lock.duration.ms": "15000",
    "group.share.delivery.count.limit": "3",
    "group.share.max.delivery.count.limit": "10",
    "group.share.min.heartbeat.interval.ms": "500",
    "share.coordinator.state.topic.num.partitions": "1",
    "group.share.max.size": "3",
}
FETCH_VERSION = 2
GROUP_RESOURCE = 32
UNKNOWN_ID = bytes(range(16))
LOCK_MS = 1000
# Long enough for Kafka to read the state of a partition meanwhile.
WAIT_MS = 500
# What Kafka mostly takes, beside its requests, to give records back, and at most.
GIVEN_BACK_SECONDS = 1.0
GIVEN_BACK_MS_MAX = 15_000
ACCEPT, RELEASE, REJECT, RENEW, GAP = 1, 2, 3, 4, 0
ACQUIRE_BY_LIMIT = 1


def member_id(number: int) -> str:
    """Return the id of a member, as clients make them."""
    return uuid_text(bytes([number]) * 16)


class Story:
    """One group, which consumes one topic from its beginning."""

    def __init__(self, recorder: Recorder, group_id: str, partition_count: int = 1, **group_configs: str) -> None:
        self.recorder = recorder
        self.group_id = group_id
        self.topic = f"topic-of-{group_id}"
        self.topic_id = recorder.create_topic(self.topic, partition_count)
        self._set({"share.auto.offset.reset": "earliest"} | {k.replace("_", "."): v for k, v in group_configs.items()})
        self.epochs: dict[int, int] = {}

    def _set(self, configs: dict[str, str]) -> None:
        entries = [AlterableConfig(name=name, config_operation=0, value=value) for name, value in configs.items()]
        resource = AlterConfigsResource(resource_type=GROUP_RESOURCE, resource_name=self.group_id, configs=entries)
        self.recorder.call(IncrementalAlterConfigsRequest(resources=[resource]), 1)
        self.recorder.settle()

    def heartbeat(self, number: int, epoch: int, topics: Sequence[str] | None = None) -> ShareGroupHeartbeatRequest:
        """Return a member's heartbeat."""
        return ShareGroupHeartbeatRequest(
            group_id=self.group_id,
            member_id=member_id(number),
            member_epoch=epoch,
            subscribed_topic_names=None if topics is None else list(topics),
        )

    def join(self, number: int = 1, *others: str) -> None:
        """Have a member join, and return when it has partitions; writes no line."""
        response = self._beat(self.heartbeat(number, 0, [self.topic, *others]))
        deadline = time.monotonic() + SETTLE_SECONDS_MAX
        while response.assignment is None or not response.assignment.topic_partitions:
            assert time.monotonic() < deadline, f"{self.group_id} has no assignment"
            time.sleep(POLL_SECONDS)
            response = self._beat(self.heartbeat(number, response.member_epoch))
        self.epochs[number] = response.member_epoch

    def _beat(self, request: ShareGroupHeartbeatRequest) -> ShareGroupHeartbeatResponse:
        response = self.recorder.call(request, 1)
        assert isinstance(response, ShareGroupHeartbeatResponse) and response.error_code == 0, response
        return response

    def fetch(
        self,
        what: str,
        session_epoch: int,
        *acknowledged: tuple[int, int, list[int]],
        number: int = 1,
        partitions: Sequence[int] = (0,),
        version: int = FETCH_VERSION,
        change: Callable[[ShareFetchRequest], None] = lambda _: None,
    ) -> ShareFetchResponse | None:
        """Record a fetch of partitions; what is acknowledged with it is of the first of them."""
        request = ShareFetchRequest(
            group_id=self.group_id,
            member_id=member_id(number),
            share_session_epoch=session_epoch,
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=1_000_000,
            max_records=500,
            batch_size=500,
            topics=[
                FetchTopic(topic_id=self.topic_id, partitions=[FetchPartition(partition_index=p) for p in partitions])
            ]
            if partitions
            else [],
        )
        if acknowledged:
            request.topics[0].partitions[0].acknowledgement_batches = [
                AcknowledgementBatch(first_offset=first, last_offset=last, acknowledge_types=types)
                for first, last, types in acknowledged
            ]
        change(request)
        response = self.recorder.case(f"{self.group_id}: {what}", version, request)
        assert response is None or isinstance(response, ShareFetchResponse)
        return response

    def waiting_fetch(
        self,
        what: str,
        session_epoch: int,
        *acknowledged: tuple[int, int, list[int]],
        partitions: Sequence[int] = (0,),
        wait_ms: int = WAIT_MS,
        **fields: int,
    ) -> None:
        """Record a fetch that may wait, and whether it did; fields are further ones of the request."""
        topics = [
            FetchTopic(topic_id=self.topic_id, partitions=[FetchPartition(partition_index=p) for p in partitions])
        ]
        request = ShareFetchRequest(
            group_id=self.group_id,
            member_id=member_id(1),
            share_session_epoch=session_epoch,
            max_wait_ms=wait_ms,
            min_bytes=1,
            max_bytes=1_000_000,
            max_records=500,
            batch_size=500,
            topics=topics if partitions else [],
        )
        if acknowledged:
            topics[0].partitions[0].acknowledgement_batches = [
                AcknowledgementBatch(first_offset=first, last_offset=last, acknowledge_types=types)
                for first, last, types in acknowledged
            ]
        for name, value in fields.items():
            setattr(request, name, value)
        self.recorder.timed_case(f"{self.group_id}: {what}", FETCH_VERSION, request, bound_ms=wait_ms)

    def first_fetch(self, number: int = 1) -> None:
        """Begin a session until the partition is known to the broker; writes no line, and acquires nothing.

        A broker that has not led the partition for this group before answers the first fetch before it has read the
        state of the partition.
        """
        request = ShareFetchRequest(
            group_id=self.group_id,
            member_id=member_id(number),
            share_session_epoch=0,
            max_wait_ms=500,
            min_bytes=1,
            max_bytes=1_000_000,
            max_records=500,
            batch_size=500,
            topics=[FetchTopic(topic_id=self.topic_id, partitions=[FetchPartition(partition_index=0)])],
        )
        response = self.recorder.call(request, FETCH_VERSION)
        assert isinstance(response, ShareFetchResponse) and response.error_code == 0, response

    def acknowledge(
        self,
        what: str,
        session_epoch: int,
        *acknowledged: tuple[int, int, list[int]],
        number: int = 1,
        partition: int = 0,
        version: int = FETCH_VERSION,
        is_renew: bool = False,
    ) -> None:
        """Record a ShareAcknowledge."""
        batches = [
            SentAcknowledgement(first_offset=first, last_offset=last, acknowledge_types=types)
            for first, last, types in acknowledged
        ]
        acknowledged_partition = AcknowledgePartition(partition_index=partition, acknowledgement_batches=batches)
        request = ShareAcknowledgeRequest(
            group_id=self.group_id,
            member_id=member_id(number),
            share_session_epoch=session_epoch,
            is_renew_ack=is_renew,
            topics=[AcknowledgeTopic(topic_id=self.topic_id, partitions=[acknowledged_partition])] if batches else [],
        )
        self.recorder.case(f"{self.group_id}: {what}", version, request)

    def produce(self, *record_counts: int, partition: int = 0) -> None:
        """Append a batch of so many records each."""
        for count in record_counts:
            records = batch([FIRST_TIMESTAMP + delta for delta in range(count)])
            self.recorder.produce(self.topic, records, partition=partition)

    def offsets(self, what: str, topics: dict[str, list[int]] | None) -> None:
        """Record what is said of the group's offsets."""
        asked = (
            None
            if topics is None
            else [
                DescribeShareGroupOffsetsRequestTopic(topic_name=name, partitions=partitions)
                for name, partitions in topics.items()
            ]
        )
        group = DescribeShareGroupOffsetsRequestGroup(group_id=self.group_id, topics=asked)
        for version in (0, 1):
            self.recorder.case(f"{self.group_id}: {what}", version, DescribeShareGroupOffsetsRequest(groups=[group]))


def capture(recorder: Recorder) -> None:
    """Record every case."""
    wait_for_group_coordinator(recorder)
    _refused_heartbeats(recorder)
    _members(recorder)
    _refused_fetches(recorder)
    _acquire_and_acknowledge(recorder)
    _deliveries(recorder)
    _limits(recorder)
    _acknowledge_errors(recorder)
    _two_members(recorder)
    _throttled(recorder)
    _lock_ends(recorder)
    _renewal(recorder)
    _sessions(recorder)
    _offsets(recorder)
    _new_partitions(recorder)
    _waits_with_acknowledgements(recorder)
    _waits_for_bytes(recorder)
    _waits_with_errors(recorder)
    _several_partitions(recorder)


def wait_for_group_coordinator(recorder: Recorder) -> None:
    """Return when heartbeats are answered by a coordinator that has loaded."""
    recorder.call(FindCoordinatorRequest(key_type=0, coordinator_keys=["any"]), 6)
    deadline = time.monotonic() + SETTLE_SECONDS_MAX
    while True:
        request = ShareGroupHeartbeatRequest(group_id="first", member_id=member_id(9), member_epoch=5)
        response = recorder.call(request, 1, ShareGroupHeartbeatResponse)
        if response.error_code not in (14, 15, 16):
            return
        assert time.monotonic() < deadline, response
        time.sleep(POLL_SECONDS)


def _refused_heartbeats(recorder: Recorder) -> None:
    def refused(what: str, **fields: object) -> None:
        request = ShareGroupHeartbeatRequest(
            group_id="refused", member_id=member_id(1), member_epoch=0, subscribed_topic_names=["t"]
        )
        for name, value in fields.items():
            setattr(request, name, value)
        recorder.case(f"heartbeat: {what}", 1, request)

    refused("empty group id", group_id="")
    refused("blank group id", group_id=" ")
    refused("empty member id", member_id="")
    refused("empty rack id", rack_id="")
    refused("joins without topics", subscribed_topic_names=None)
    refused("joins with an empty list", subscribed_topic_names=[])
    refused("epoch -2", member_epoch=-2)
    refused("an unknown group", member_epoch=3, group_id="unknown")
    refused("leaves an unknown group", member_epoch=-1, group_id="unknown")
    refused("an unknown member", member_epoch=3)
    refused("member id that is no uuid", member_id="me")
    refused("it leaves", member_id="me", member_epoch=-1)
    recorder.case("heartbeat: its group is deleted", 2, DeleteGroupsRequest(groups_names=["refused"]))


def _members(recorder: Recorder) -> None:
    story = Story(recorder, "members", 3)
    recorder.case("members: the group is empty", 1, ShareGroupDescribeRequest(group_ids=["members"]))
    recorder.case("members: nameless", 1, ShareGroupDescribeRequest(group_ids=[""]))
    story.join(1)
    epoch = story.epochs[1]
    recorder.case("members: epoch again", 1, story.heartbeat(1, epoch))
    recorder.case("members: epoch again with the same topics", 1, story.heartbeat(1, epoch, [story.topic]))
    recorder.case("members: a greater epoch", 1, story.heartbeat(1, epoch + 1))
    recorder.case("members: the epoch before", 1, story.heartbeat(1, epoch - 1))
    recorder.case("members: joins again", 1, story.heartbeat(1, 0, [story.topic]))
    recorder.case("members: another one that is unknown", 1, story.heartbeat(2, 1))
    described = ShareGroupDescribeRequest(group_ids=["members"], include_authorized_operations=True)
    recorder.case("members: described with one", 1, described)
    recorder.case("members: listed", 5, ListGroupsRequest(states_filter=[], types_filter=["share"]))
    recorder.case("members: not deleted", 2, DeleteGroupsRequest(groups_names=["members"]))
    recorder.case("members: leaves", 1, story.heartbeat(1, -1))
    recorder.case("members: leaves again", 1, story.heartbeat(1, -1))
    recorder.case("members: described empty", 1, described)
    recorder.case("members: deleted", 2, DeleteGroupsRequest(groups_names=["members"]))
    recorder.case("members: described when it is gone", 1, described)


def _refused_fetches(recorder: Recorder) -> None:
    story = Story(recorder, "fetches")
    story.join()

    def with_group(group_id: str | None) -> Callable[[ShareFetchRequest], None]:
        def change(request: ShareFetchRequest) -> None:
            request.group_id = group_id

        return change

    def with_member(changed: str | None) -> Callable[[ShareFetchRequest], None]:
        def change(request: ShareFetchRequest) -> None:
            request.member_id = changed

        return change

    def with_topic(request: ShareFetchRequest) -> None:
        request.topics[0].topic_id = UNKNOWN_ID

    def with_negative_records(request: ShareFetchRequest) -> None:
        request.max_records = 0

    story.fetch("no group", 0, change=with_group(None))
    story.fetch("empty group", 0, change=with_group(""))
    story.fetch("no member", 0, change=with_member(None))
    story.fetch("empty member", 0, change=with_member(""))
    story.fetch("an unknown session", 3)
    story.fetch("ends an unknown session", -1)
    story.fetch("begins with acknowledgements", 0, (0, 0, [ACCEPT]))
    story.fetch("an unknown topic", 0, change=with_topic)
    story.fetch("an unknown partition", 0, partitions=(7,))
    story.fetch("no records wanted", 0, change=with_negative_records)
    story.acknowledge("acknowledges in an unknown session", 4, (0, 0, [ACCEPT]), number=2)
    story.acknowledge("acknowledges with the first epoch", 0, (0, 0, [ACCEPT]), number=2)


def _acquire_and_acknowledge(recorder: Recorder) -> None:
    story = Story(recorder, "acquire")
    story.join()
    story.first_fetch()
    story.produce(3, 2)
    story.fetch("two batches", 1)
    story.fetch("nothing more", 2)
    story.acknowledge("accepts the first batch", 3, (0, 2, [ACCEPT]))
    story.produce(1)
    story.fetch("one more and the second accepted", 4, (3, 4, [ACCEPT]))
    story.offsets("offsets", {story.topic: [0]})
    story.acknowledge("accepts the last", 5, (5, 5, [ACCEPT]))
    story.offsets("offsets at the end", {story.topic: [0]})
    story.fetch("nothing left", 6)


def _deliveries(recorder: Recorder) -> None:
    story = Story(recorder, "deliveries")
    story.join()
    story.first_fetch()
    story.produce(4)
    story.fetch("four records", 1)
    story.acknowledge("accept, release, reject, accept", 2, (0, 3, [ACCEPT, RELEASE, REJECT, ACCEPT]))
    story.fetch("the released one again", 3)
    story.acknowledge("released", 4, (1, 1, [RELEASE]))
    story.fetch("the last time", 5)
    story.acknowledge("released the last time", 6, (1, 1, [RELEASE]))
    story.offsets("all are done with", {story.topic: [0]})
    story.fetch("nothing to get", 7)
    story.produce(3)
    story.fetch("one batch again", 8)
    story.acknowledge("the middle one released", 9, (4, 4, [ACCEPT]), (5, 5, [RELEASE]), (6, 6, [ACCEPT]))
    story.fetch("the middle one", 10)
    story.acknowledge("a gap", 11, (5, 5, [GAP]))
    story.offsets("after the gap", {story.topic: [0]})


def _limits(recorder: Recorder) -> None:
    story = Story(recorder, "limits")
    story.join()
    story.first_fetch()
    story.produce(5, 5, 5)

    def limited(max_records: int, batch_size: int, mode: int = 0) -> Callable[[ShareFetchRequest], None]:
        def change(request: ShareFetchRequest) -> None:
            request.max_records, request.batch_size = max_records, batch_size
            request.share_acquire_mode = mode

        return change

    story.fetch("three records are a batch", 1, change=limited(3, 3))
    story.fetch("seven are the next two", 2, change=limited(7, 3))
    story.acknowledge("all released", 3, (0, 14, [RELEASE]))
    story.fetch("in batches of three", 4, change=limited(500, 3))
    story.acknowledge("all released once more", 5, (0, 14, [RELEASE]))
    story.fetch("two records at most", 6, change=limited(2, 2, ACQUIRE_BY_LIMIT))
    story.fetch("three more at most", 7, change=limited(3, 3, ACQUIRE_BY_LIMIT))


def _throttled(recorder: Recorder) -> None:
    for limit in (4, 5, 8):
        story = Story(recorder, f"throttled{limit}", share_delivery_count_limit=str(limit))
        story.join()
        story.first_fetch()
        story.produce(16, 8)
        for delivery in range(1, limit + 1):
            got = story.fetch(f"delivery {delivery}", 2 * delivery - 1)
            assert got is not None
            acquired = got.responses[0].partitions[0].acquired_records
            story.acknowledge(
                f"released {delivery}",
                2 * delivery,
                *((each.first_offset, each.last_offset, [RELEASE]) for each in acquired),
            )


def _acknowledge_errors(recorder: Recorder) -> None:
    story = Story(recorder, "errors")
    story.join()
    story.first_fetch()
    story.produce(5, 5)
    story.fetch("ten records", 1)
    story.acknowledge("an unknown acknowledge type", 2, (0, 4, [9]))
    story.acknowledge("too many types", 3, (0, 4, [ACCEPT, ACCEPT]))
    story.acknowledge("first behind last", 4, (4, 0, [ACCEPT]))
    story.acknowledge("overlapping", 5, (0, 4, [ACCEPT]), (3, 9, [ACCEPT]))
    story.acknowledge("records that were not acquired", 6, (20, 25, [ACCEPT]))
    story.acknowledge("half of it acquired", 7, (8, 25, [ACCEPT]))
    story.acknowledge("no types", 8, (0, 4, []))
    story.acknowledge("an unknown partition", 9, (0, 4, [ACCEPT]), partition=9)
    story.acknowledge("the second batch", 10, (5, 9, [ACCEPT]))
    story.acknowledge("the second batch again", 11, (5, 9, [ACCEPT]))
    story.acknowledge("both, of which one is done", 12, (0, 9, [ACCEPT]))
    story.acknowledge("the first batch", 13, (0, 4, [ACCEPT]))
    story.acknowledge("before the start", 14, (0, 4, [ACCEPT]))
    story.acknowledge("renewed without saying so", 15, (0, 4, [RENEW]))
    story.acknowledge("version 1 knows no renewal", 16, (0, 4, [RENEW]), version=1)
    story.acknowledge("nothing", 17)
    story.acknowledge("an epoch that was", 3, (0, 4, [ACCEPT]))


def _two_members(recorder: Recorder) -> None:
    story = Story(recorder, "two")
    story.join(1)
    story.join(2)
    story.first_fetch(1)
    story.first_fetch(2)
    story.produce(4)
    story.fetch("the first gets all", 1, number=1)
    story.fetch("the second nothing", 1, number=2)
    story.acknowledge("the second has no right", 2, (0, 3, [ACCEPT]), number=2)
    story.fetch("the first ends its session", -1, number=1)
    # A fetch that comes before the records are given back waits, and on a busy Kafka was once not woken by them.
    time.sleep(GIVEN_BACK_SECONDS)
    story.fetch("the second gets all", 3, number=2, change=_waiting)
    story.acknowledge("the second accepts and ends", -1, (0, 3, [ACCEPT]), number=2)
    story.offsets("all are accepted", {story.topic: [0]})


def _waiting(request: ShareFetchRequest) -> None:
    """Wait until records are given back, which the broker does beside its requests."""
    request.max_wait_ms, request.min_bytes = GIVEN_BACK_MS_MAX, 1


def _lock_ends(recorder: Recorder) -> None:
    story = Story(recorder, "locks", share_record_lock_duration_ms=str(LOCK_MS))
    story.join()
    story.first_fetch()
    story.produce(2)
    story.fetch("two are locked", 1)
    time.sleep(LOCK_MS / 1000 + GIVEN_BACK_SECONDS)
    story.acknowledge("too late", 2, (0, 1, [ACCEPT]))
    story.fetch("the same two", 3, change=_waiting)


def _renewal(recorder: Recorder) -> None:
    story = Story(recorder, "renewal")
    story.join()
    story.first_fetch()
    story.produce(2)
    story.fetch("two records", 1)
    story.acknowledge("renewed", 2, (0, 1, [RENEW]), is_renew=True)
    story.acknowledge("renewed and accepted", 3, (0, 1, [RENEW, ACCEPT]), is_renew=True)
    story.acknowledge("accepted", 4, (0, 0, [ACCEPT]))

    def renewing(request: ShareFetchRequest) -> None:
        request.is_renew_ack = True

    story.produce(1)
    story.fetch("a fetch that renews and wants records", 5, change=renewing)
    story.fetch("not renewed", 6)


def _sessions(recorder: Recorder) -> None:
    story = Story(recorder, "sessions")
    story.join()
    story.first_fetch()
    story.produce(1)
    story.fetch("the partition of the session", 1, partitions=())
    story.fetch("with a partition that is known", 2, partitions=(0,))
    story.produce(1)
    story.fetch("one more", 3, partitions=())

    def forgetting(request: ShareFetchRequest) -> None:
        request.forgotten_topics_data = [ForgottenTopic(topic_id=story.topic_id, partitions=[0])]

    story.fetch("one is forgotten", 4, partitions=(), change=forgetting)
    story.produce(1)
    story.fetch("it is not fetched from", 5, partitions=())
    story.fetch("an epoch too many", 9, partitions=())
    story.fetch("begins anew", 0, partitions=(0,))
    story.fetch("accepts and ends", -1, (3, 3, [ACCEPT]))
    story.fetch("ended", 1, partitions=())


def _offsets(recorder: Recorder) -> None:
    story = Story(recorder, "offsets", 2)
    unknown = "no-such-topic"
    recorder.case(
        "offsets: of an unknown group",
        1,
        DescribeShareGroupOffsetsRequest(
            groups=[DescribeShareGroupOffsetsRequestGroup(group_id="unknown", topics=None)]
        ),
    )
    story.join()
    story.produce(5)
    story.first_fetch()
    story.offsets("all", None)
    story.offsets("some", {story.topic: [1]})

    def altered(what: str, topic: str, partition: int, offset: int, group_id: str = story.group_id) -> None:
        asked = AlterShareGroupOffsetsRequestPartition(partition_index=partition, start_offset=offset)
        topics = [AlterShareGroupOffsetsRequestTopic(topic_name=topic, partitions=[asked])]
        request = AlterShareGroupOffsetsRequest(group_id=group_id, topics=topics)
        recorder.case(f"offsets: {what}", 0, request)

    def deleted(what: str, *topics: str, group_id: str = story.group_id) -> None:
        names = [DeleteShareGroupOffsetsRequestTopic(topic_name=name) for name in topics]
        recorder.case(f"offsets: {what}", 0, DeleteShareGroupOffsetsRequest(group_id=group_id, topics=names))

    altered("altered with members", story.topic, 0, 3)
    deleted("deleted with members", story.topic)
    recorder.call(story.heartbeat(1, -1), 1)
    altered("altered", story.topic, 0, 3)
    story.offsets("after it", {story.topic: [0]})
    altered("altered for an unknown topic", unknown, 0, 3)
    altered("altered for an unknown partition", story.topic, 9, 3)
    altered("altered for an unknown group", story.topic, 0, 3, group_id="unknown")
    altered("altered for no group", story.topic, 0, 3, group_id="")
    deleted("deleted for an unknown topic", unknown)
    deleted("deleted for an unknown group", story.topic, group_id="unknown")
    deleted("deleted", story.topic)
    story.offsets("after they were deleted", {story.topic: [0]})


def _new_partitions(recorder: Recorder) -> None:
    """Begin sessions with partitions that the broker has not led for the group before."""
    for name, order in (("newer", (0, 1)), ("newer-reversed", (1, 0))):
        story = Story(recorder, name, 2)
        story.join()
        story.produce(3)
        story.produce(2, partition=1)
        story.waiting_fetch("the first of two new partitions", 0, partitions=order)
        story.waiting_fetch("the other one", 1, partitions=())
        story.waiting_fetch("nothing more", 2, partitions=())
    story = Story(recorder, "newer-second", 2)
    story.join()
    story.produce(2, partition=1)
    story.waiting_fetch("only the second has records", 0, partitions=(0, 1))
    story = Story(recorder, "newer-at-once", 1)
    story.join()
    story.produce(2)
    story.fetch("does not wait", 0)
    time.sleep(GIVEN_BACK_SECONDS)
    story.fetch("does not wait either", 1)


def _waits_with_acknowledgements(recorder: Recorder) -> None:
    story = Story(recorder, "acknowledging")
    story.join()
    story.waiting_fetch("an empty partition", 0)
    story.produce(4)
    story.waiting_fetch("four records", 1)
    story.waiting_fetch("accepts one, nothing new", 2, (0, 0, [ACCEPT]))
    story.waiting_fetch("accepts one, does not wait", 3, (1, 1, [ACCEPT]), wait_ms=0)
    story.waiting_fetch("accepts records that were not acquired", 4, (90, 99, [ACCEPT]))
    story.waiting_fetch("an unknown acknowledge type", 5, (2, 2, [9]))
    story.produce(1)
    story.waiting_fetch("accepts one, one is new", 6, (2, 2, [ACCEPT]))
    story.waiting_fetch("accepts with the last epoch", -1, (3, 4, [ACCEPT]))


def _waits_for_bytes(recorder: Recorder) -> None:
    story = Story(recorder, "bytes")
    story.join()
    story.waiting_fetch("an empty partition", 0)
    story.produce(1)
    story.waiting_fetch("more bytes than there are", 1, min_bytes=100_000)
    story.waiting_fetch("nothing, and no bytes wanted", 2, min_bytes=0)
    story.produce(1)
    story.waiting_fetch("more bytes than max_bytes", 3, min_bytes=100_000, max_bytes=10)
    story.waiting_fetch("no records wanted", 4, max_records=0)


def _waits_with_errors(recorder: Recorder) -> None:
    story = Story(recorder, "missing")
    story.join()
    story.waiting_fetch("only an unknown partition", 0, partitions=(9,))
    story.waiting_fetch("again", 1, partitions=())
    story.waiting_fetch("an empty one too", 2)
    story.waiting_fetch("both again", 3, partitions=())
    story.produce(1)
    story.waiting_fetch("one has a record", 4, partitions=())


def _several_partitions(recorder: Recorder) -> None:
    story = Story(recorder, "several", 2)
    story.join()
    story.waiting_fetch("one partition", 0)
    story.waiting_fetch("another one is added", 1, partitions=(1,))
    story.waiting_fetch("both are known", 2, partitions=())
    story.waiting_fetch("a new session", 0, partitions=(0, 1))
    story.waiting_fetch("a new session that does not wait", 0, partitions=(0, 1), wait_ms=0)
    story.waiting_fetch("both are known again", 1, partitions=())
    for partition in (0, 1):
        story.produce(1, 1, 1, partition=partition)
    for epoch in range(2, 7):
        story.waiting_fetch(f"one record, epoch {epoch}", epoch, partitions=(), max_records=1, batch_size=1)


if __name__ == "__main__":
    main(capture)
