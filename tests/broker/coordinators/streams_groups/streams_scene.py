"""A streams group of an application with one subtopology, whose two members share four tasks."""

from __future__ import annotations

from fauxka.protocol.messages.streams_group_heartbeat import TaskIds
from fauxka.testing import Broker

from ....wire.streams_member import GROUP, beat


def tasks_of(broker: Broker) -> dict[str, dict[str, list[int]]]:
    """Return the active tasks of each member."""
    return {each.member_id: each.tasks.active for each in broker.groups.get(GROUP).members if each.tasks is not None}


def begin(broker: Broker) -> int:
    """Let two members share four tasks, and return their epoch."""
    broker.topics.create("orders", partitions=4)
    first = beat(broker.bootstrap_servers, "a", 0)
    with_topics = beat(broker.bootstrap_servers, "a", first.member_epoch)
    beat(broker.bootstrap_servers, "b", 0)
    beat(broker.bootstrap_servers, "a", with_topics.member_epoch)
    beat(broker.bootstrap_servers, "a", with_topics.member_epoch, [TaskIds(subtopology_id="0", partitions=[0, 1])])
    last = beat(broker.bootstrap_servers, "b", with_topics.member_epoch + 1)
    assert tasks_of(broker) == {"a": {"0": [0, 1]}, "b": {"0": [2, 3]}}
    return last.member_epoch
