"""The committed offsets of a broker's groups, for the topics that are audited."""

import pytest

from fauxka.client.errors import BrokerError
from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.checks.group_input import check_groups
from fauxka.pipeline.read.group_offsets import GroupOffset, group_offsets
from fauxka.testing import Broker

from .logs_on_disk import GOLDEN, options_of

DENIED = {
    "match": {"api": "OffsetFetch"},
    "point": "received",
    "action": {"kind": "error", "error": "GROUP_AUTHORIZATION_FAILED"},
}


def test_the_offsets_of_all_groups_of_all_nodes_are_read() -> None:
    with Broker(nodes=2) as broker:
        for topic in ("orders", "other"):
            broker.topics.create(topic, partitions=2)
        broker.groups.set_offsets("billing", {("orders", 0): 5, ("orders", 1): 0, ("other", 0): 3}, force=True)
        broker.groups.set_offsets("shipping", {("orders", 1): 7}, force=True)

        found = group_offsets(options_of(bootstrap=broker.bootstrap_servers, topics="orders"))

    assert sorted(found) == [
        GroupOffset("billing", "orders", 0, 5),
        GroupOffset("billing", "orders", 1, 0),
        GroupOffset("shipping", "orders", 1, 7),
    ]


def test_an_error_of_the_broker_is_raised() -> None:
    with Broker() as broker:
        broker.topics.create("orders")
        broker.groups.set_offsets("billing", {("orders", 0): 5}, force=True)
        broker.faults.add(DENIED)

        with pytest.raises(BrokerError, match="group billing: GROUP_AUTHORIZATION_FAILED"):
            group_offsets(options_of(bootstrap=broker.bootstrap_servers))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (" ,", "groups: must be all, or names of groups separated by commas, not ' ,'"),
        ("billing", f"groups: {GOLDEN} has no segments of __consumer_offsets"),
    ],
)
def test_groups_that_cannot_be_audited_are_refused(groups: str, message: str) -> None:
    with pytest.raises(BadOption) as raised:
        check_groups({"path": str(GOLDEN)}, groups)

    assert str(raised.value) == message
