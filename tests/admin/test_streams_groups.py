"""Streams groups in the admin API: their topology, and the tasks of their members."""

from __future__ import annotations

from fauxka.protocol.messages.streams_group_heartbeat import Subtopology, TaskIds, TopicInfo, Topology
from fauxka.testing import Broker

from ..wire.streams_member import CONFIG, GROUP, beat

TOPOLOGY = Topology(
    subtopologies=[
        Subtopology(
            subtopology_id="0",
            source_topics=["orders"],
            repartition_sink_topics=["app-repartition"],
        ),
        Subtopology(
            subtopology_id="1",
            repartition_source_topics=[TopicInfo(name="app-repartition")],
            state_changelog_topics=[TopicInfo(name="app-changelog")],
        ),
    ]
)


def test_members_have_their_tasks_and_the_partitions_of_these() -> None:
    with Broker(CONFIG) as broker:
        broker.topics.create("orders", partitions=2)
        beat(broker.bootstrap_servers, "a", 0, topology=TOPOLOGY)
        epoch = beat(broker.bootstrap_servers, "a", 2).member_epoch
        owned = [TaskIds(subtopology_id=each, partitions=[0, 1]) for each in "01"]
        assert beat(broker.bootstrap_servers, "a", epoch, owned).error_code == 0

        group = broker.groups.get(GROUP)
        lag = broker.groups.lag(GROUP)

    (member,) = group.members
    assert (group.type, group.state, group.protocol) == ("streams", "Stable", "sticky")
    assert group.topology is not None
    assert [each.changelog_topics for each in group.topology.subtopologies] == [[], ["app-changelog"]]
    assert member.tasks is not None
    assert member.tasks.active == {"0": [0, 1], "1": [0, 1]}
    assert member.target_tasks == member.tasks
    assert member.process_id == "process-a"
    assert member.partitions == {"orders": [0, 1], "app-repartition": [0, 1]}
    assert [(each.topic, each.partition) for each in lag.partitions] == [
        ("app-repartition", 0),
        ("app-repartition", 1),
        ("orders", 0),
        ("orders", 1),
    ]


def test_a_member_is_evicted_and_the_group_deleted() -> None:
    with Broker(CONFIG) as broker:
        broker.topics.create("orders", partitions=2)
        beat(broker.bootstrap_servers, "a", 0, topology=TOPOLOGY)
        beat(broker.bootstrap_servers, "b", 0, topology=TOPOLOGY)
        epoch = broker.groups.rebalance(GROUP).members[0].epoch

        after = broker.groups.evict(GROUP, "a")
        refused = beat(broker.bootstrap_servers, "a", epoch or 0).error_code
        broker.groups.evict(GROUP, "b")
        deleted = broker.groups.delete(GROUP)

    assert [member.member_id for member in after.members] == ["b"]
    assert refused == 25
    assert deleted.group_id == GROUP
