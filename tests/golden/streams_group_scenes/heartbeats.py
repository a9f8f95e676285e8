"""Heartbeats of one to four members: joining, tasks, epochs, and what is refused."""

from __future__ import annotations

from fauxka.protocol.messages.delete_groups import DeleteGroupsRequest
from fauxka.protocol.messages.list_groups import ListGroupsRequest
from fauxka.protocol.messages.streams_group_describe import StreamsGroupDescribeRequest
from fauxka.protocol.messages.streams_group_heartbeat import (
    Endpoint,
    KeyValue,
    Subtopology,
    TaskOffset,
)

from ..streams_group_client import StreamsMember, settle, subtopology, tasks, topic, topology
from ..streams_group_recorder import StreamsGroupRecorder

SOURCE, WIDE = "st-orders", "st-wide"
SOURCE_PARTITIONS, WIDE_PARTITIONS = 2, 5

STATELESS = topology(subtopology("0", SOURCE))
TWO_PARTS = topology(subtopology("0", SOURCE), subtopology("1", WIDE))


def stateful(name: str, *sources: str) -> Subtopology:
    """Return a subtopology with a store."""
    return subtopology(name, *sources, changelogs=[topic(f"st-{name}-changelog", cleanup_policy="compact")])


def refused(recorder: StreamsGroupRecorder) -> None:
    """Requests that are invalid."""
    a = StreamsMember(recorder, "refused", "a", STATELESS)
    a.join("joins without a member id", member_id="")
    a.join("joins with a blank member id", member_id=" ")
    a.join("joins without a group id", group_id="")
    a.join("joins with a blank instance", instance_id=" ")
    a.join("joins with a blank rack", rack_id="")
    a.join("joins without a rebalance timeout", rebalance_timeout_ms=-1)
    a.join("joins without active tasks", active_tasks=None)
    a.join("joins with active tasks", active_tasks=tasks({"0": [0]}))
    a.join("joins with standby tasks", standby_tasks=tasks({"0": [0]}))
    a.join("joins with warm-up tasks", warmup_tasks=tasks({"0": [0]}))
    a.join("joins without a topology", topology=None)
    a.join(
        "joins with a changelog of 3 partitions",
        topology=topology(subtopology("0", SOURCE, changelogs=[topic("c", 3)])),
    )
    a.join(
        "joins with a regular expression",
        topology=topology(Subtopology(subtopology_id="0", source_topic_regex=["a.*"])),
    )
    a.join(
        "joins with an internal topic", topology=topology(subtopology("0", "__consumer_offsets", "__transaction_state"))
    )
    a.join("joins with invalid names", topology=topology(subtopology("0", "a b", sinks=["c/d"])))
    _refuse_heartbeats(a)
    StreamsMember(recorder, "refused", "b", topology(subtopology("0", WIDE))).join("joins with another topology")
    StreamsMember(recorder, "refused", "c", topology(subtopology("0", SOURCE), epoch=1)).join(
        "joins with a newer topology"
    )
    StreamsMember(recorder, "twice", "a", topology(subtopology("0", SOURCE), subtopology("0", WIDE))).join(
        "has a subtopology twice"
    )
    StreamsMember(recorder, "none", "a", topology(subtopology("0"))).join("has no sources")
    StreamsMember(recorder, "empty", "a", topology()).join("has no subtopology")
    StreamsMember(recorder, "epoch", "a", topology(subtopology("0", SOURCE), epoch=-1)).join(
        "has a negative topology epoch"
    )
    recorder.describe_streams("of what was refused", "refused", "twice", "none", "empty", "epoch", "")


def _refuse_heartbeats(a: StreamsMember) -> None:
    a.beat("is alive in no group", member_epoch=1)
    a.leave("leaves no group")
    a.beat("has a strange epoch", member_epoch=-3)
    a.leave("leaves for a while as no instance", member_epoch=-2)
    a.leave("leaves for a while", member_epoch=-2, instance_id="i")
    a.join()
    a.beat("reports active tasks only", active_tasks=[])
    a.beat("reports standby tasks only", standby_tasks=[])
    a.beat("sends a topology", topology=STATELESS)
    a.beat("has a task of no subtopology", active_tasks=tasks({"7": [0]}), standby_tasks=[], warmup_tasks=[])
    a.beat("has a task too many", active_tasks=tasks({"0": [0, 2]}), standby_tasks=[], warmup_tasks=[])
    a.beat("has a negative task", active_tasks=[], standby_tasks=tasks({"0": [-1]}), warmup_tasks=[])
    a.beat(
        "has a subtopology twice",
        active_tasks=[*tasks({"0": [0]}), *tasks({"0": [1]})],
        standby_tasks=[],
        warmup_tasks=[],
    )
    a.join("joins with a tag twice", client_tags=[KeyValue(key="z", value="1"), KeyValue(key="z", value="2")])
    a.beat("is a stranger", member_id="stranger")
    a.beat("is in another group", group_id="nothing")


def life(recorder: StreamsGroupRecorder) -> None:
    """One member comes, works and leaves."""
    a = StreamsMember(recorder, "life", "a", TWO_PARTS, rack_id="r1", client_tags=[KeyValue(key="zone", value="z1")])
    a.join()
    recorder.describe_streams("with one", "life")
    recorder.describe_streams("with one, version 0", "life", version=0)
    a.own()
    a.beat()
    a.beat("has another rack", rack_id="r2")
    a.own("has its tasks in the next epoch")
    a.beat("has another process", process_id="other")
    a.beat("has another timeout", rebalance_timeout_ms=5000)
    a.join("joins again")
    recorder.describe_streams("of it", "life", "nothing")
    recorder.case(
        "of it with what may be done",
        recorder.version,
        StreamsGroupDescribeRequest(group_ids=["life"], include_authorized_operations=True),
    )
    for types in (["streams"], ["Streams"], ["consumer"]):
        recorder.case("listed", 5, ListGroupsRequest(types_filter=types))
    for states in (["Stable"], ["NotReady"], ["not_ready"]):
        recorder.case("listed", 5, ListGroupsRequest(states_filter=states, types_filter=["streams"]))
    recorder.case("delete a group with a member", 2, DeleteGroupsRequest(groups_names=["life"]))
    recorder.kept_streams("is kept", "life")
    a.leave()
    recorder.describe_streams("without members", "life")
    a.join("comes back")
    a.leave("leaves again")
    recorder.kept_streams("is kept without members", "life")
    recorder.case("delete it", 2, DeleteGroupsRequest(groups_names=["life"]))
    recorder.kept_streams("is deleted", "life")
    recorder.describe_streams("after its end", "life")


def two(recorder: StreamsGroupRecorder) -> None:
    """Two members, in two processes: tasks move from one to the other."""
    a, b = (StreamsMember(recorder, "two", name, TWO_PARTS) for name in "ab")
    a.join()
    a.own()
    b.join()
    recorder.describe_streams("while a has all", "two")
    a.beat("gets fewer tasks")
    b.beat("waits")
    recorder.describe_streams("while a revokes", "two")
    a.own("has given up")
    b.own("gets its tasks")
    a.own("has its tasks")
    b.own()
    recorder.describe_streams("with two", "two")
    recorder.kept_streams("is kept with two", "two")
    b.leave()
    a.own("gets all")
    a.own()
    recorder.describe_streams("with one again", "two")


def threads(recorder: StreamsGroupRecorder) -> None:
    """Four members in two processes, with a standby task each."""
    recorder.set_group_config("threads", streams_num_standby_replicas="1")
    parts = topology(stateful("0", SOURCE), stateful("1", WIDE))
    members = [
        StreamsMember(recorder, "threads", name, parts, process_id=f"p{number % 2}")
        for number, name in enumerate("abcd")
    ]
    members[0].join()
    recorder.wait_for_internal_topic("st-1-changelog", WIDE_PARTITIONS)
    members[0].beat("has its topics")
    for member in members[1:]:
        member.join()
    settle(*members)
    recorder.describe_streams("with four", "threads")
    members[3].leave()
    settle(*members[:3])
    recorder.describe_streams("with three", "threads")
    recorder.set_group_config("threads", streams_num_standby_replicas="0")
    settle(*members[:3])
    recorder.describe_streams("without standby tasks", "threads")
    recorder.set_group_config("threads", streams_num_standby_replicas="2")
    settle(*members[:3])
    recorder.describe_streams("with two standby tasks", "threads")
    members[0].leave()
    settle(*members[1:3])
    recorder.describe_streams("with one in each process", "threads")
    recorder.kept_streams("is kept", "threads")


def epochs(recorder: StreamsGroupRecorder) -> None:
    """Heartbeats in each epoch but the own one."""
    a = StreamsMember(recorder, "epochs", "a", STATELESS)
    a.join()
    a.own()
    epoch = a.member_epoch
    a.beat("is ahead", member_epoch=epoch + 1)
    a.beat("is behind", member_epoch=epoch - 1)
    b = StreamsMember(recorder, "epochs", "b", STATELESS)
    b.join()
    a.beat("gets fewer tasks")
    a.own("has given up")
    a.beat("is in the epoch before", member_epoch=epoch)
    a.beat(
        "is in the epoch before with its tasks",
        member_epoch=epoch,
        active_tasks=a.owned[0],
        standby_tasks=[],
        warmup_tasks=[],
    )
    a.beat(
        "is in the epoch before with more tasks",
        member_epoch=epoch,
        active_tasks=tasks({"0": [0, 1]}),
        standby_tasks=[],
        warmup_tasks=[],
    )
    a.beat("is two epochs behind", member_epoch=epoch - 1)
    recorder.describe_streams("of it", "epochs")


def full(recorder: StreamsGroupRecorder) -> None:
    """A group has four members at most."""
    members = [StreamsMember(recorder, "full", name, STATELESS) for name in "abcde"]
    for member in members:
        member.join()
    members[0].join("joins again")
    members[1].leave()
    members[4].join("joins after one has left")


def endpoints(recorder: StreamsGroupRecorder) -> None:
    """Members with endpoints for interactive queries."""
    recorder.set_group_config("endpoints", streams_num_standby_replicas="1")
    parts = topology(subtopology("0", SOURCE, WIDE, changelogs=[topic("st-endpoints-changelog")]))
    a = StreamsMember(recorder, "endpoints", "a", parts, user_endpoint=Endpoint(host="host-a", port=1001))
    b = StreamsMember(recorder, "endpoints", "b", parts, user_endpoint=Endpoint(host="host-b", port=1002))
    c = StreamsMember(recorder, "endpoints", "c", parts)
    a.join()
    recorder.wait_for_internal_topic("st-endpoints-changelog", WIDE_PARTITIONS)
    a.beat("has its topics")
    a.own()
    b.join()
    settle(a, b)
    a.beat("asks as if it knew nothing", endpoint_information_epoch=0)
    a.beat("asks as if it knew more", endpoint_information_epoch=99)
    a.beat("has another endpoint", user_endpoint=Endpoint(host="host-a", port=2001))
    b.own("gets the new one")
    c.join("joins without an endpoint")
    settle(a, b, c)
    a.join("joins again without one", user_endpoint=None)
    settle(a, b, c)
    b.leave()
    settle(a, c)
    recorder.describe_streams("of it", "endpoints")


def shutdown(recorder: StreamsGroupRecorder) -> None:
    """A member asks every member to end."""
    a, b = (StreamsMember(recorder, "shutdown", name, STATELESS) for name in "ab")
    a.join()
    b.join()
    a.beat("asks all to end", shutdown_application=True)
    b.beat("gets it")
    b.beat("asks too", shutdown_application=True)
    a.leave()
    b.beat("is alive after that one has left")
    b.leave("leaves and asks", shutdown_application=True)
    a.join("begins again")
    a.beat()


def stale(recorder: StreamsGroupRecorder) -> None:
    """A member has an older topology."""
    a = StreamsMember(recorder, "stale", "a", topology(subtopology("0", SOURCE), epoch=3))
    b = StreamsMember(recorder, "stale", "b", topology(subtopology("0", WIDE), epoch=2))
    a.join()
    b.join("joins with an older topology")
    b.own()
    a.own()
    b.join("joins with the topology", topology=a.topology)
    recorder.describe_streams("of it", "stale")


def offsets_of_tasks(recorder: StreamsGroupRecorder) -> None:
    """Members report the offsets of their tasks."""
    a = StreamsMember(recorder, "task offsets", "a", topology(stateful("0", SOURCE)))
    a.join("joins with offsets", task_offsets=[TaskOffset(subtopology_id="0", partition=1, offset=7)])
    recorder.wait_for_internal_topic("st-0-changelog", SOURCE_PARTITIONS)
    recorder.describe_streams("after the first heartbeat", "task offsets")
    a.beat("reports offsets", task_offsets=[TaskOffset(subtopology_id="0", partition=0, offset=5)])
    a.beat("reports end offsets", task_end_offsets=[TaskOffset(subtopology_id="0", partition=1, offset=9)])
    recorder.describe_streams("with offsets", "task offsets")
    twice = [TaskOffset(subtopology_id="0", partition=0, offset=each) for each in (1, 2)]
    a.beat("reports an offset twice", task_offsets=twice)
    a.beat("reports an offset of no task", task_offsets=[TaskOffset(subtopology_id="9", partition=4, offset=1)])
    recorder.describe_streams("with other offsets", "task offsets")


def tags(recorder: StreamsGroupRecorder) -> None:
    """The group's tags for an assignment by rack."""
    recorder.set_group_config("tags", streams_rack_aware_assignment_tags="zone,cluster")
    a = StreamsMember(recorder, "tags", "a", STATELESS, client_tags=[KeyValue(key="zone", value="1")])
    a.join("joins with one of two tags")
    a.beat("reports both", client_tags=[KeyValue(key="zone", value="1"), KeyValue(key="cluster", value="2")])
    a.beat("reports none", client_tags=[])
    recorder.kept_streams("is kept", "tags")
