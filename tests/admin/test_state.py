"""Topics, groups, producers and the journal over HTTP."""

from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest

from fauxka.protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from fauxka.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from fauxka.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from fauxka.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from fauxka.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

from ..broker.topic_client import TOPIC, TopicClient
from ..serving_process import Serving
from ..wire.message_client import MessageClient
from .admin_client import AdminClient


@pytest.fixture(autouse=True)
def two_batches_of_producer_1(admin: AdminClient, broker: Serving) -> None:
    with TopicClient(broker.bootstrap) as client:
        client.produce(5)
        client.produce(6)


def test_topic_is_listed_with_its_partitions(admin: AdminClient) -> None:
    (topic,) = [topic for topic in admin.get("/v1/topics")["items"] if topic["name"] == TOPIC]

    (partition,) = topic["partitions"]
    assert (partition["partition"], partition["leader"], partition["producers"]) == (0, 1, 1)
    assert partition["log_end_offset"] == partition["high_watermark"] >= 2
    assert len(topic["topic_id"]) == 22


def test_topics_are_listed_by_name_in_pages(admin: AdminClient, broker: Serving) -> None:
    with TopicClient(broker.bootstrap) as client:
        client.create_topic("a-topic")

    first = admin.get("/v1/topics", limit=1)
    second = admin.get("/v1/topics", since=first["next"])

    assert [topic["name"] for topic in first["items"]] == ["a-topic"]
    assert [topic["name"] for topic in second["items"]] == [TOPIC]


def test_there_are_no_groups_before_the_first_join(admin: AdminClient) -> None:
    assert admin.get("/v1/groups") == {"items": [], "next": None}


def test_consumer_group_is_listed_with_its_assignments(admin: AdminClient, broker: Serving) -> None:
    request = ConsumerGroupHeartbeatRequest(
        group_id="readers",
        member_id="one",
        rebalance_timeout_ms=60_000,
        subscribed_topic_names=[TOPIC],
        topic_partitions=[],
    )
    with MessageClient(broker.bootstrap) as connection:
        connection.call(request, 1)

        (group,) = admin.get("/v1/groups")["items"]

    (member,) = group["members"]
    assert (group["group_id"], group["type"], group["state"], group["protocol"]) == (
        "readers",
        "consumer",
        "Stable",
        "uniform",
    )
    assert (member["member_id"], member["epoch"]) == ("one", 2)
    assert member["partitions"] == member["target"] == {TOPIC: [0]}


class ClassicCase(NamedTuple):
    """The assignment of a member of a classic group, and how it is listed."""

    group_id: str
    assignment: bytes
    encoded: str
    partitions: dict[str, list[int]] | None


@pytest.mark.parametrize(
    "case",
    [
        ClassicCase("not-of-consumers", b"\0\xff", "AP8=", None),
        # Version 0, partition 0 of the topic "events", and no user data.
        ClassicCase(
            "of-consumers",
            b"\0\0\0\0\0\1\0\6events\0\0\0\1\0\0\0\0\xff\xff\xff\xff",
            "AAAAAAABAAZldmVudHMAAAABAAAAAP////8=",
            {TOPIC: [0]},
        ),
    ],
    ids=lambda case: case.group_id,
)
def test_assignment_of_a_classic_group_is_listed_as_base64_and_decoded(
    admin: AdminClient, broker: Serving, case: ClassicCase
) -> None:
    join = JoinGroupRequest(
        group_id=case.group_id,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    )
    with MessageClient(broker.bootstrap) as connection:
        joined = connection.call(join, 3, JoinGroupResponse)
        assigned = SyncGroupRequestAssignment(member_id=joined.member_id, assignment=case.assignment)
        sync = SyncGroupRequest(
            group_id=case.group_id, generation_id=1, member_id=joined.member_id, assignments=[assigned]
        )
        connection.call(sync, 2)

        (member,) = admin.get(f"/v1/groups/{case.group_id}")["members"]

    assert (member["assignment"], member["partitions"]) == ({"base64": case.encoded}, case.partitions)


def test_share_group_is_listed_with_its_members_and_progress(admin: AdminClient, broker: Serving) -> None:
    def group_info() -> dict[str, Any]:
        groups: list[dict[str, Any]] = admin.get("/v1/groups")["items"]
        (group,) = [each for each in groups if each["group_id"] == "sharers"]
        return group

    request = ShareGroupHeartbeatRequest(
        group_id="sharers", member_id="one", member_epoch=0, subscribed_topic_names=[TOPIC]
    )
    with MessageClient(broker.bootstrap) as connection:
        connection.call(request, 1)
        start = AlterShareGroupOffsetsRequestPartition(partition_index=0, start_offset=1)
        topics = [AlterShareGroupOffsetsRequestTopic(topic_name=TOPIC, partitions=[start])]
        connection.call(AlterShareGroupOffsetsRequest(group_id="others", topics=topics), 0)
        request.member_epoch = -1

        group = group_info()
        connection.call(request, 1)
        connection.call(AlterShareGroupOffsetsRequest(group_id="sharers", topics=topics), 0)
        empty = group_info()

    assert (group["group_id"], group["type"], group["state"], group["protocol"]) == (
        "sharers",
        "share",
        "Stable",
        "simple",
    )
    assert [(member["member_id"], member["epoch"]) for member in group["members"]] == [("one", 2)]
    assert group["offsets"] == []
    assert empty["state"] == "Empty"
    assert [(each["partition"], each["offset"]) for each in empty["offsets"]] == [(0, 1)]


def test_producer_is_listed_with_its_recognised_batches(admin: AdminClient) -> None:
    (producer,) = admin.get("/v1/producers", topic=TOPIC, partition=0)["items"]

    assert (producer["producer_id"], producer["producer_epoch"], producer["next_sequence"]) == (1, 0, 7)
    assert [(batch["base_sequence"], batch["last_sequence"]) for batch in producer["cached"]] == [(5, 5), (6, 6)]
    assert producer["current_txn_first_offset"] is None


def test_evicted_batches_are_not_recognised_and_the_next_sequence_stays(admin: AdminClient) -> None:
    before = admin.post("/v1/producers/evict_cache", {"topic": TOPIC, "partition": 0, "producer_id": 1})

    (producer,) = admin.get("/v1/producers")["items"]
    assert len(before["items"][0]["cached"]) == 2
    assert (producer["cached"], producer["next_sequence"]) == ([], 7)


def test_epoch_is_incremented(admin: AdminClient) -> None:
    admin.post("/v1/producers/bump_epoch", {"producer_id": 1})

    (producer,) = admin.get("/v1/producers")["items"]
    assert producer["producer_epoch"] == 1


@pytest.mark.parametrize("change", ["forget", "expire"])
def test_producer_state_is_deleted(admin: AdminClient, change: str) -> None:
    admin.post(f"/v1/producers/{change}", {"producer_id": 1})

    assert admin.get("/v1/producers")["items"] == []


def test_unknown_producer_is_404(admin: AdminClient) -> None:
    answer = admin.call("POST", "/v1/producers/forget", {"producer_id": 99})

    assert (answer.status, answer.error["value"]) == (404, 99)


@pytest.mark.parametrize("token", ["x", "orders/0", "orders/0/x", "orders/0/1/2", f"orders/0/{'9' * 20}"])
def test_invalid_page_token_is_400(admin: AdminClient, token: str) -> None:
    answer = admin.call("GET", f"/v1/producers?since={token}")

    assert (answer.status, answer.error["message"]) == (400, f"since cannot be {token!r}")


def test_journal_lists_each_request_with_its_batches(admin: AdminClient) -> None:
    entries = admin.get("/v1/journal", api="Produce", topic=TOPIC, producer_id=1)["items"]

    assert [entry["batches"][0]["decision"] for entry in entries] == ["appended", "appended"]
    assert [entry["answered"] for entry in entries] == [True, True]
    assert entries[0]["batches"][0]["base_sequence"] == 5


def test_journal_page_starts_after_an_id(admin: AdminClient) -> None:
    first = admin.get("/v1/journal", api="Produce", limit=1)
    second = admin.get("/v1/journal", api="Produce", since=first["next"])

    assert [entry["batches"][0]["base_sequence"] for entry in first["items"] + second["items"]] == [5, 6]
    assert second["next"] is None


def test_requests_without_batches_are_found_by_their_fields(admin: AdminClient, broker: Serving) -> None:
    with TopicClient(broker.bootstrap) as client:
        client.fetch()

    (entry,) = admin.get("/v1/journal", api="Fetch", topic=TOPIC)["items"]

    assert (entry["topics"], entry["batches"]) == ([TOPIC], [])
    assert admin.get("/v1/journal/count", api="Fetch", topic="others")["count"] == 0


def test_requests_of_the_journal_are_counted(admin: AdminClient) -> None:
    assert admin.get("/v1/journal/count", base_sequence=6) == {"count": 1, "dropped": 0}


def test_journal_accepts_the_match_of_a_rule(admin: AdminClient) -> None:
    found = admin.get("/v1/journal/count", match='{"topic": {"regex": "ev.*"}, "base_sequence": {"from": 6}}')

    assert found["count"] == 1


@pytest.mark.parametrize(
    ("match", "field"), [("[]", "match"), ('{"topics": "x"}', "topics"), ('{"topic": {"regex": "("}}', "topic.regex")]
)
def test_invalid_match_is_400(admin: AdminClient, match: str, field: str) -> None:
    answer = admin.call("GET", "/v1/journal", match=match)

    assert (answer.status, answer.error["field"]) == (400, field)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"api": "Prodduce"}, "api"),
        ({"match": '{"key": {"text": "a"}}'}, "key"),
        ({"api": "Fetch", "group_id": "g"}, "group_id"),
    ],
)
def test_match_on_records_is_400(admin: AdminClient, query: dict[str, str], field: str) -> None:
    answer = admin.call("GET", f"/v1/journal/count?{urlencode(query)}")

    assert (answer.status, answer.error["field"]) == (400, field)


def test_metrics_show_the_state(admin: AdminClient) -> None:
    answer = admin.call("GET", "/metrics")

    end = admin.get("/v1/topics")["items"][-1]["partitions"][0]["log_end_offset"]
    assert answer.headers["content-type"].startswith("text/plain; version=")
    assert f'fauxka_log_end_offset{{partition="0",topic="{TOPIC}"}} {float(end)}' in answer.content.decode()
