"""ConsumerGroupHeartbeat: what is refused, and how members get at their partitions and give them up."""

from fauxka.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from fauxka.protocol.messages.consumer_group_heartbeat import TopicPartitions
from fauxka.protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from fauxka.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fauxka.protocol.messages.describe_groups import DescribeGroupsRequest
from fauxka.protocol.messages.list_groups import ListGroupsRequest

from ..consumer_group_client import ConsumerMember, pair
from ..consumer_group_recorder import ConsumerGroupRecorder

TOPIC = "kip"
PARTITION_COUNT = 6
SECOND = "kip-second"
UNKNOWN_ID = bytes(range(16))


def refused(recorder: ConsumerGroupRecorder) -> None:
    """Requests that are refused whatever the group."""
    some = [TopicPartitions(topic_id=recorder.topic_ids[TOPIC], partitions=[0])]
    for version in (0, 1):
        a = ConsumerMember(recorder, "refused", "a", TOPIC)
        for blank in ("", "  "):
            a.join(f"joins the group {blank!r}", version, group_id=blank)
            # In version 0 who has no name is given one, see life.
            if blank or version:
                a.join(f"calls itself {blank!r}", version, member_id=blank, group_id="refused-named")
            a.beat(f"is alive as {blank!r}", version, member_id=blank, member_epoch=3)
            a.beat(f"leaves as {blank!r}", version, member_id=blank, member_epoch=-1)
            a.join(f"is the instance {blank!r}", version, instance_id=blank)
            a.join(f"is in the rack {blank!r}", version, rack_id=blank)
        a.join("tells no rebalance timeout", version, rebalance_timeout_ms=-1)
        a.join("joins with partitions", version, topic_partitions=some)
        a.join("does not tell its partitions", version, topic_partitions=None)
        a.join("subscribes to nothing", version, subscribed_topic_names=None)
        a.join("has another assignor", version, server_assignor="sticky")
        a.beat("leaves for a while without an instance", version, member_epoch=-2)
        a.beat("is in an epoch that there is not", version, member_epoch=-3)
        a.beat("is alive in no group", version, member_epoch=1)
        a.beat("leaves no group", version, member_epoch=-1)
        a.beat("leaves no group for a while", version, member_epoch=-2, instance_id="i")
    recorder.describe_case("is described", "refused", "", "refused-named", "")


def life(recorder: ConsumerGroupRecorder) -> None:
    """One member from its first heartbeat to its last, in both versions."""
    for version in (0, 1):
        recorder.scene = f"life v{version}"
        group_id = f"life-{version}"
        a = ConsumerMember(recorder, group_id, "a", TOPIC, member_id="" if version == 0 else "a")
        a.join(version=version, rack_id="r" if version else None)
        for describe_version in (0, 1):
            recorder.describe_case("is described", group_id, version=describe_version)
        a.beat(version=version)
        a.beat("tells what it has", version, topic_partitions=a.owned)
        a.beat(
            "tells everything",
            version,
            topic_partitions=a.owned,
            subscribed_topic_names=[TOPIC],
            rebalance_timeout_ms=50_000,
        )
        a.beat("comes from another rack", version, rack_id="other")
        a.join("joins again", version)
        recorder.case("listed", 5, ListGroupsRequest(types_filter=["Consumer"]))
        recorder.case("listed by state", 5, ListGroupsRequest(states_filter=["stable"], types_filter=["consumer"]))
        recorder.case("listed by another state", 4, ListGroupsRequest(states_filter=["Assigning", "Reconciling"]))
        for describe_version in (5, 6):
            recorder.case("described as a classic group", describe_version, DescribeGroupsRequest(groups=[group_id]))
        recorder.case(
            "operations",
            1,
            ConsumerGroupDescribeRequest(group_ids=[group_id, "nothing"], include_authorized_operations=True),
        )
        a.leave()
        a.beat("is alive after it left", version)
        recorder.describe_case("is empty", group_id)
        recorder.case("listed when empty", 5, ListGroupsRequest(states_filter=["Empty"], types_filter=["consumer"]))
        a.join("joins once more", version, member_id="late")
        a.leave("leaves again")
        recorder.kept("kept", group_id)


def epochs(recorder: ConsumerGroupRecorder) -> None:
    """Heartbeats in another epoch than the member's."""
    a, b = pair(recorder, "epochs", TOPIC)
    a.beat("is in a later epoch", member_epoch=a.member_epoch + 1)
    a.beat("is in the epoch before without its partitions", member_epoch=a.member_epoch - 1)
    a.beat("is in the epoch before with its partitions", member_epoch=a.member_epoch - 1, topic_partitions=a.owned)
    a.beat("is in the epoch before with the other's", member_epoch=a.member_epoch - 1, topic_partitions=b.owned)
    a.beat("is in the epoch before with none", member_epoch=a.member_epoch - 1, topic_partitions=[])
    unknown = [TopicPartitions(topic_id=UNKNOWN_ID, partitions=[0])]
    a.beat("is in the epoch before with others", member_epoch=a.member_epoch - 1, topic_partitions=unknown)
    a.beat("is in its first epoch", member_epoch=1)
    a.beat("is somebody else", member_id="nobody")
    a.beat("is an instance that there is not", instance_id="nothing")
    a.beat("leaves as somebody else", member_id="nobody", member_epoch=-1)
    recorder.describe_case("is described", "epochs")
    recorder.kept("kept", "epochs")


def reconciling(recorder: ConsumerGroupRecorder) -> None:
    """A third member takes partitions from two, and what is told meanwhile."""
    a, b = pair(recorder, "reconciling", TOPIC)
    c = ConsumerMember(recorder, "reconciling", "c", TOPIC)
    c.join()
    recorder.describe_case("with a third", "reconciling")
    a.beat("is told to give up")
    recorder.describe_case("while one gives up", "reconciling")
    a.beat("says nothing of its partitions")
    a.beat(
        "still has all",
        topic_partitions=[TopicPartitions(topic_id=t.topic_id, partitions=list(range(6))) for t in a.owned],
    )
    c.beat("waits")
    a.own("has given up")
    c.beat("gets some")
    b.beat("is told to give up")
    b.own("has given up")
    c.beat("gets the rest")
    c.own()
    recorder.describe_case("is stable", "reconciling")
    ConsumerMember(recorder, "reconciling", "d", TOPIC).join("finds the group full")
    b.leave()
    a.beat("gets of what is free")
    c.beat("gets of what is free")
    recorder.describe_case("is stable again", "reconciling")
    recorder.kept("kept", "reconciling")


def assignors(recorder: ConsumerGroupRecorder) -> None:
    """The assignor that most members ask for."""
    a = ConsumerMember(recorder, "assignors", "a", TOPIC)
    b = ConsumerMember(recorder, "assignors", "b", TOPIC)
    c = ConsumerMember(recorder, "assignors", "c", TOPIC)
    a.join("joins with range", server_assignor="range")
    recorder.describe_case("by range", "assignors")
    b.join("joins with uniform", server_assignor="uniform")
    recorder.describe_case("by either", "assignors")
    c.join("joins with uniform", server_assignor="uniform")
    recorder.describe_case("by uniform", "assignors")
    c.beat("asks for range", server_assignor="range")
    recorder.describe_case("by range again", "assignors")
    recorder.kept("kept", "assignors")


def subscriptions(recorder: ConsumerGroupRecorder) -> None:
    """Members change what they subscribe to, and the topics change."""
    a, b = pair(recorder, "subscriptions", TOPIC)
    a.beat("subscribes to another topic", subscribed_topic_names=[SECOND])
    recorder.describe_case("with different topics", "subscriptions")
    a.own("has given up")
    b.beat("gets the rest")
    recorder.describe_case("with different topics, stable", "subscriptions")
    b.beat("subscribes to both", subscribed_topic_names=[TOPIC, SECOND])
    b.beat("subscribes to nothing", subscribed_topic_names=[])
    recorder.describe_case("with a member without topics", "subscriptions")
    b.own("has given up all")
    a.beat("subscribes to a topic to come", subscribed_topic_names=["kip-later"])
    a.own("has given up all")
    recorder.describe_case("without partitions", "subscriptions")
    recorder.create_topic("kip-later", 2)
    recorder.settle()
    a.beat("gets the new topic")
    a.own()
    request = CreatePartitionsRequest(
        topics=[CreatePartitionsTopic(name="kip-later", count=3, assignments=None)], timeout_ms=30_000
    )
    recorder.call(request, 3)
    recorder.wait_for_topic("kip-later", 3)
    recorder.settle()
    a.beat("gets the new partition")
    a.own()
    recorder.describe_case("with a larger topic", "subscriptions")
    state = DeleteTopicState(name="kip-later")
    recorder.call(DeleteTopicsRequest(topics=[state], timeout_ms=30_000), 6)
    recorder.settle()
    a.beat("loses the topic")
    a.own("has nothing")
    recorder.describe_case("without the topic", "subscriptions")
    recorder.kept("kept", "subscriptions")


def assignment_interval(recorder: ConsumerGroupRecorder) -> None:
    """Partitions are not assigned again before the interval is over."""
    recorder.set_group_config("interval", consumer_assignment_interval_ms="15000")
    a = ConsumerMember(recorder, "interval", "a", TOPIC)
    b = ConsumerMember(recorder, "interval", "b", TOPIC)
    a.join()
    b.join("joins too early")
    recorder.describe_case("is assigning", "interval")
    a.beat("keeps all")
    recorder.set_group_config("interval", consumer_assignment_interval_ms="0")
    a.beat("is told to give up")
    a.own("has given up")
    b.beat("gets its partitions")
    recorder.describe_case("is stable", "interval")
    recorder.kept("kept", "interval")


def timeouts(recorder: ConsumerGroupRecorder) -> None:
    """Members that send no heartbeats, or do not give up what they are to."""
    recorder.set_group_config("timeouts", consumer_session_timeout_ms="2000", consumer_heartbeat_interval_ms="700")
    a = ConsumerMember(recorder, "timeouts", "a", TOPIC)
    b = ConsumerMember(recorder, "timeouts", "b", TOPIC)
    a.join()
    b.join()
    recorder.expect_members("timeouts", 0)
    a.beat("is alive too late")
    recorder.describe_case("without members", "timeouts")
    slow = ConsumerMember(recorder, "slow", "a", TOPIC)
    slow.join(rebalance_timeout_ms=600)
    ConsumerMember(recorder, "slow", "b", TOPIC).join()
    slow.beat("is told to give up")
    recorder.expect_members("slow", 1)
    slow.beat("gives up too late", topic_partitions=[])
    recorder.describe_case("without the slow one", "slow")
    recorder.kept("kept", "timeouts", "slow")


def changes_in_interval(recorder: ConsumerGroupRecorder) -> None:
    """Members change what they subscribe to before the interval is over: they get what they were to have of it."""
    a = ConsumerMember(recorder, "changes", "a", TOPIC, SECOND)
    a.join()
    recorder.set_group_config("changes", consumer_assignment_interval_ms="15000")
    a.beat("drops a topic", subscribed_topic_names=[TOPIC])
    a.own("has given up")
    a.beat("takes it back", subscribed_topic_names=[TOPIC, SECOND])
    a.own()
    a.beat("drops the other one", subscribed_topic_names=[SECOND])
    a.beat("takes it back before it has given up", subscribed_topic_names=[TOPIC, SECOND])
    a.own()
    a.beat("swaps for what does not exist", subscribed_topic_names=["kip-missing"])
    a.own("has given up all")
    a.beat("subscribes to nothing", subscribed_topic_names=[])
    a.beat("subscribes to what does not exist", subscribed_topic_names=["kip-missing"])
    b = ConsumerMember(recorder, "changes", "b", TOPIC)
    b.join("joins")
    recorder.describe_case("is assigning", "changes")
    a.beat("takes a topic that another one wants", subscribed_topic_names=[TOPIC])
    recorder.set_group_config("changes", consumer_assignment_interval_ms="0")
    b.beat("is alive after the interval")
    a.own("has given up")
    b.beat("gets its partitions")
    b.beat("subscribes to nothing", subscribed_topic_names=[])
    b.own("has given up all")
    b.beat("subscribes to what does not exist", subscribed_topic_names=["kip-missing"])
    b.beat("subscribes to nothing again", subscribed_topic_names=[])
    recorder.describe_case("is described", "changes")
    recorder.kept("kept", "changes")
